//! What a report looks like in each format.

mod fixtures;

use fixtures::{
    accuracy, as_in_the_paper, cross_entropy, read_as, recognition, render, scored, set, sized, tables,
};
use serde_json::json;
use wug_report::{Format, Logs, RecordFormat, TableFormat, records};
use wug_score::{Coordinates, Ending, Reading, RunResult};

fn few() -> Vec<RunResult> {
    let mut failed = recognition(["parity", "lstm", "R", "short"], 3, Vec::new());
    failed.ending = Ending::Failed { message: "out of memory | disk".to_owned() };
    // It failed before its data were known, which does not make the data differ.
    failed.run.data_hash.clear();
    // A protocol that this crate does not know.
    let scores = vec![accuracy("final", 0.5), cross_entropy("final", 0.7)];
    let mut other = recognition(["", "", "", ""], 1, scores);
    "speed".clone_into(&mut other.run.protocol);
    other.run.coordinates = Coordinates::default().with("task", "copy").with("delay", 10_usize);
    vec![
        scored(["parity", "lstm", "R", "short"], 1, 0.9349),
        scored(["parity", "lstm", "R", "short"], 2, 0.9349),
        failed,
        scored(["parity", "rnn", "R", "short"], 1, 0.7),
        scored(["parity", "rnn", "R+NS", "long"], 1, 1.0),
        other,
    ]
}

#[test]
fn a_terminal_shows_the_headlines() {
    insta::assert_snapshot!(render(&few(), Format::Table).unwrap(), @r###"
    Runs:      6: 1 failed, 5 finished
    Protocols: recognition, speed
    Readings:  published
    Versions:  wug 0.1.0
    Caution:   4 of 6 runs reached their last epoch before they would have stopped; more epochs may
               score higher

    Table 2: recognition accuracy on the long test set (published reading)
    ours/paper; – was not run
    (n): the best of n runs

              Inductive bias                     Expressivity
    language  transformer        rnn       lstm  transformer                 rnn         lstm  Chance
    ────────  ───────────  ─────────  ─────────  ───────────  ──────────────────  ───────────  ──────
    parity         –/0.56  0.70/0.51  0.93/0.66  –/0.60 (40)  1.00 (1)/1.00 (10)  –/1.00 (40)    0.50

      Inductive bias: best mean over the runs of a loss, validated on lengths 0-40.
      Expressivity: best run of any loss, validated on lengths 0-80.
      Trained on lengths 0-40, tested on lengths 0-500.
      The paper's figures: inductive bias, the mean of 10 runs of the best loss; expressivity, the
      maximum of 10 runs of each of four losses. Where only some losses were run, the paper's are of the
      same losses, from its Tables 4 to 21.
      Runs per mean: 1 to 2; the paper's: 10.

    speed: all that was measured (published reading)

    task  delay  split  recognition_accuracy  recognition_cross_entropy  parameters
    ────  ─────  ─────  ────────────────────  ─────────────────────────  ──────────
    copy  10     final             0.500 (1)                  0.700 (1)  63,713

      Mean ± population standard deviation over runs; in brackets the number of runs.
      Data drawn with seed 0.
      recognition_accuracy: share of strings correctly accepted or rejected (fraction; chance 0.500).
      recognition_cross_entropy: minus the log-probability of the correct label, averaged over strings
      (nats).

    Runs that diverged or failed

    reading    language  learner  size   loss  validation  seed  ending  why
    ─────────  ────────  ───────  ─────  ────  ──────────  ────  ──────  ────────────────────
    published  parity    lstm     64000  R     short       3     failed  out of memory | disk


    Markdown, CSV, JSON and HTML reports have every table in full.
    "###);
}

#[test]
fn markdown_has_every_table() {
    let text = render(&few(), Format::Markdown).unwrap();
    let heads: Vec<&str> = text.lines().filter(|line| line.starts_with('#')).collect();
    insta::assert_snapshot!(heads.join("\n"), @r###"
    # Report
    ## Table 2: recognition accuracy on the long test set (published reading)
    ## Table 2, expressivity: the best of how many (published reading)
    ## Table 3: the losses behind Table 2 (published reading)
    ## Table 6: full results on parity (published reading)
    ## speed: all that was measured (published reading)
    ## recognition: the settings of the runs (published reading)
    ## speed: the settings of the runs (published reading)
    ## Runs that diverged or failed
    "###);
    let row = |name: &str| text.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
    insta::assert_snapshot!(row("| parity"), @r###"| parity | – · *0.56 ± 0.03 (10)* | 0.70 (1) · *0.51 ± 0.01 (10)* | 0.93 ± 0.00 \[0.93, 0.93\] (2) · *0.66 ± 0.22 (10)* | – · *0.60 (of 40)* | 1.00 (best of 1) · *1.00 (of 10)* | – · *1.00 (of 40)* | 0.50 |"###);
    insta::assert_snapshot!(row("| lstm | R | short"), @r###"| lstm | R | short | – · *1.000* | – · *0.000* | – · *1.000* | – · *1.000* | – · *1.000* | 0.935 ± 0.00 \[0.935, 0.935\] (2) · *0.664 ± 0.22 (10)* | 0.935 (best of 2) · *1.000 (of 10)* | 2 (1 failed) |"###);
}

#[test]
fn csv_has_a_row_per_cell_with_numbers_in_full() {
    let text = render(&few(), Format::Csv).unwrap();
    let lines = |of: &str| text.lines().filter(|line| line.contains(of)).collect::<Vec<_>>().join("\n");
    insta::assert_snapshot!(text.lines().next().unwrap(), @r###"table,suite,protocol,reading,language,learner,loss,validation,task,delay,split,size,seed,column,ours,ours_std,ours_low,ours_high,n,paper,paper_std,paper_n,departures"###);
    insta::assert_snapshot!(lines("published-2,"), @r###"
    flare-published-2,flare,,published,parity,,,,,,,,,Inductive bias: transformer,,,,,,0.56,0.03,10,
    flare-published-2,flare,,published,parity,,,,,,,,,Inductive bias: rnn,0.7,,,,1,0.507,0.01,10,
    flare-published-2,flare,,published,parity,,,,,,,,,Inductive bias: lstm,0.9349,0,0.9349,0.9349,2,0.664,0.22,10,
    flare-published-2,flare,,published,parity,,,,,,,,,Expressivity: transformer,,,,,,0.6,,40,
    flare-published-2,flare,,published,parity,,,,,,,,,Expressivity: rnn,1,,,,1,1,,10,
    flare-published-2,flare,,published,parity,,,,,,,,,Expressivity: lstm,,,,,,1,,40,
    flare-published-2,flare,,published,parity,,,,,,,,,Chance,0.5,,,,,,,,
    "###);
    insta::assert_snapshot!(lines("speed"), @r###"
    speed-published-other,,speed,published,,,,,copy,10,final,,,recognition_accuracy,0.5,,,,1,,,,
    speed-published-other,,speed,published,,,,,copy,10,final,,,recognition_cross_entropy,0.7,,,,1,,,,
    speed-published-other,,speed,published,,,,,copy,10,final,,,parameters,"63,713",,,,,,,,
    speed-published-settings,,speed,published,,,,,copy,10,,,,runs,1,,,,,,,,
    speed-published-settings,,speed,published,,,,,copy,10,,,,parameters,"63,713",,,,,,,,
    "###);
    // Commas between quotes separate nothing.
    let fields = |line: &str| line.split('"').step_by(2).map(|part| part.matches(',').count()).sum::<usize>();
    let width = fields(text.lines().next().unwrap());
    assert!(text.lines().all(|line| fields(line) == width));
}

#[test]
fn json_has_a_summary_and_every_table() {
    let value: serde_json::Value = serde_json::from_str(&render(&few(), Format::Json).unwrap()).unwrap();
    insta::assert_snapshot!(value["summary"], @r###"{"runs":6,"endings":{"failed":1,"finished":5},"protocols":["recognition","speed"],"readings":["published"],"versions":["0.1.0"],"cautions":["4 of 6 runs reached their last epoch before they would have stopped; more epochs may score higher"]}"###);
    insta::assert_snapshot!(value["tables"][0]["rows"][0]["cells"][2], @r###"{"ours":{"value":0.9349,"std":0.0,"interval":{"low":0.9349,"high":0.9349,"level":0.95,"kind":"mean"}},"paper":{"value":0.664,"std":0.22},"n":2,"paper_n":10}"###);
}

fn exported(rows: RecordFormat, format: TableFormat) -> String {
    let logs =
        Logs::from([("----1".to_owned(), serde_json::json!({ "seconds": 1.5, "host": "h", "seed": 3 }))]);
    let mut out = Vec::new();
    records(&few(), fixtures::recipes(), &logs, rows, format, &mut out).expect("results can be exported");
    String::from_utf8(out).expect("text")
}

#[test]
fn records_of_several_protocols_share_one_table() {
    let text = exported(RecordFormat::Scores, TableFormat::Csv);
    let (head, rows) = text.split_once('\n').unwrap();
    insta::assert_snapshot!(head, @r##"plan,protocol,language,learner,size,loss,validation,seed,reading,version,build,instructions,data_hash,task,delay,derived,runs,split,stratum,stratum_kind,stratum_low,stratum_high,metric,unit,value,shown,numerator,denominator,n,spread,chance,interval_low,interval_high,interval_level,ending,parameters,ended.message,seconds,log.seed,subject,settings.batch_symbols,settings.clip,settings.decay,settings.decay_patience,settings.dropout,settings.layers,settings.learning_rate,settings.max_epochs,settings.patience,plan.size,matching,data.source,data.training,data.validation,data.test,data.held_out,data.distances,data.short,data.long,data.longest,data_seed,plan.loss,plan.validation,weights.language_modeling,weights.next_symbols,precision"##);
    insta::assert_snapshot!(rows.lines().next().unwrap(), @r##"parity-lstm-R-short-1,recognition,parity,lstm,64000,R,short,1,published,0.1.0,0123456789abcdef,avx2,data of parity,,,false,1,test,all,all,,,recognition_accuracy,fraction,0.9349,,0.9349,1.0,1,0.1,0.5,,,,finished,63713,,,,parity,3409,5.0,0.5,4,0.1,5,0.0017,1000,10,64000,published,drawn,10000,1000,5010,1000,50,40,80,500,0,R,short,0.0,0.0,f32"##);
    insta::assert_snapshot!(rows.lines().find(|line| line.contains("speed")).unwrap(), @r##"'----1,speed,,,,,,1,published,0.1.0,0123456789abcdef,avx2,data of ,copy,10,false,1,final,all,all,,,recognition_accuracy,fraction,0.5,,0.5,1.0,1,0.1,0.5,,,,finished,63713,,1.5,3,"",3409,5.0,0.5,4,0.1,5,0.0017,1000,10,64000,published,drawn,10000,1000,5010,1000,50,40,80,500,0,"","",0.0,0.0,f32"##);
    insta::assert_snapshot!(rows.lines().filter(|line| line.contains("true")).collect::<Vec<_>>().join("\n"), @r##"
    parity-rnn-R-short-1,recognition,parity,rnn,64000,R,short,1,published,0.1.0,0123456789abcdef,avx2,data of parity,,,true,1,test,all,all,,,inductive_bias,fraction,0.7,R,0.7,1.0,1,,,,,,finished,63713,,,,parity,3409,5.0,0.5,4,0.1,5,0.0017,1000,10,64000,published,drawn,10000,1000,5010,1000,50,40,80,500,0,R,short,0.0,0.0,f32
    parity-rnn-R+NS-long-1,recognition,parity,rnn,64000,R+NS,long,1,published,0.1.0,0123456789abcdef,avx2,data of parity,,,true,1,test,all,all,,,expressivity,fraction,1.0,R+NS,1.0,1.0,1,,,,,,finished,63713,,,,parity,3409,5.0,0.5,4,0.1,5,0.0017,1000,10,64000,published,drawn,10000,1000,5010,1000,50,40,80,500,0,R+NS,long,0.0,0.0,f32
    ,recognition,parity,lstm,64000,R,short,,published,0.1.0,0123456789abcdef,avx2,data of parity,,,true,2,test,all,all,,,inductive_bias,fraction,0.9349,R,0.9349,1.0,2,0.0,,,,,finished,63713,,,,parity,3409,5.0,0.5,4,0.1,5,0.0017,1000,10,64000,published,drawn,10000,1000,5010,1000,50,40,80,500,0,R,short,0.0,0.0,f32
    '----1,speed,,,,,,1,published,0.1.0,0123456789abcdef,avx2,data of ,copy,10,true,1,final,all,all,,,recognition_accuracy_mean,fraction,0.5,,0.5,1.0,1,,,,,,finished,63713,,1.5,3,"",3409,5.0,0.5,4,0.1,5,0.0017,1000,10,64000,published,drawn,10000,1000,5010,1000,50,40,80,500,0,"","",0.0,0.0,f32
    '----1,speed,,,,,,1,published,0.1.0,0123456789abcdef,avx2,data of ,copy,10,true,1,final,all,all,,,recognition_cross_entropy_mean,nats,0.7,,0.7,1.0,1,,,,,,finished,63713,,1.5,3,"",3409,5.0,0.5,4,0.1,5,0.0017,1000,10,64000,published,drawn,10000,1000,5010,1000,50,40,80,500,0,"","",0.0,0.0,f32
    "##);
    let lines = exported(RecordFormat::Scores, TableFormat::Jsonl);
    assert_eq!(lines.lines().count() + 1, text.lines().count());
    insta::assert_snapshot!(lines.lines().find(|line| line.contains("speed")).unwrap(), @r##"{"plan":"----1","protocol":"speed","language":null,"learner":null,"size":null,"loss":null,"validation":null,"seed":1,"reading":"published","version":"0.1.0","build":"0123456789abcdef","instructions":"avx2","data_hash":"data of ","task":"copy","delay":10,"derived":false,"runs":1,"split":"final","stratum":"all","stratum_kind":"all","stratum_low":null,"stratum_high":null,"metric":"recognition_accuracy","unit":"fraction","value":0.5,"shown":null,"numerator":0.5,"denominator":1.0,"n":1,"spread":0.1,"chance":0.5,"interval_low":null,"interval_high":null,"interval_level":null,"ending":"finished","parameters":63713,"ended.message":null,"seconds":1.5,"log.seed":3,"subject":"","settings.batch_symbols":3409,"settings.clip":5.0,"settings.decay":0.5,"settings.decay_patience":4,"settings.dropout":0.1,"settings.layers":5,"settings.learning_rate":0.0017,"settings.max_epochs":1000,"settings.patience":10,"plan.size":64000,"matching":"published","data.source":"drawn","data.training":10000,"data.validation":1000,"data.test":5010,"data.held_out":1000,"data.distances":50,"data.short":40,"data.long":80,"data.longest":500,"data_seed":0,"plan.loss":"","plan.validation":"","weights.language_modeling":0.0,"weights.next_symbols":0.0,"precision":"f32"}"##);
}

#[test]
fn curves_and_strings_are_tables_of_their_own() {
    insta::assert_snapshot!(exported(RecordFormat::Curves, TableFormat::Csv).lines().take(2).collect::<Vec<_>>().join("\n"), @r##"plan,protocol,language,learner,size,loss,validation,seed,reading,version,build,instructions,data_hash,task,delay,epoch,step,training_loss,validation_loss,seen,accuracy,ending,parameters,ended.message,seconds,log.seed,subject,settings.batch_symbols,settings.clip,settings.decay,settings.decay_patience,settings.dropout,settings.layers,settings.learning_rate,settings.max_epochs,settings.patience,plan.size,matching,data.source,data.training,data.validation,data.test,data.held_out,data.distances,data.short,data.long,data.longest,data_seed,plan.loss,plan.validation,weights.language_modeling,weights.next_symbols,precision"##);
    insta::assert_snapshot!(exported(RecordFormat::Strings, TableFormat::Csv).lines().take(2).collect::<Vec<_>>().join("\n"), @r##"plan,protocol,language,learner,size,loss,validation,seed,reading,version,build,instructions,data_hash,task,delay,list,split,string,label,edits,distance,cross_entropy,ending,parameters,ended.message,seconds,log.seed,subject,settings.batch_symbols,settings.clip,settings.decay,settings.decay_patience,settings.dropout,settings.layers,settings.learning_rate,settings.max_epochs,settings.patience,plan.size,matching,data.source,data.training,data.validation,data.test,data.held_out,data.distances,data.short,data.long,data.longest,data_seed,plan.loss,plan.validation,weights.language_modeling,weights.next_symbols,precision"##);
}

#[test]
fn a_new_protocol_is_shown_by_its_coordinates() {
    let run = |delay: usize, value: f64| {
        let mut result = recognition(["", "", "", ""], 1, vec![accuracy("final", value)]);
        "speed".clone_into(&mut result.run.protocol);
        result.run.plan = delay.to_string();
        result.run.data_hash = delay.to_string();
        result.run.coordinates = Coordinates::default().with("task", "copy").with("delay", delay);
        result
    };
    let mut results = vec![run(10, 0.5), run(2, 0.75)];
    results[1].run.coordinates.set("memory", "stack");
    let text = render(&results, Format::Markdown).unwrap();
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("| ")).collect();
    insta::assert_snapshot!(rows.join("\n"), @r###"
    | task | delay | memory | split | recognition\_accuracy | parameters |
    | --- | --- | --- | --- | ---: | ---: |
    | copy | 2 | stack | final | 0.750 (1) | 63,713 |
    | copy | 10 |  | final | 0.500 (1) | 63,713 |
    | task | delay | memory | runs | parameters |
    | --- | --- | --- | ---: | ---: |
    | copy | 2 | stack | 1 | 63,713 |
    | copy | 10 |  | 1 | 63,713 |
    "###);
    assert!(!text.contains("Caution"), "{text}");
}

#[test]
fn readings_are_never_mixed() {
    let mut results = few();
    let mut corrected = scored(["parity", "lstm", "R", "short"], 1, 0.1);
    read_as(&mut corrected, Reading::Corrected);
    results.push(corrected);
    let text = render(&results, Format::Csv).unwrap();
    let row =
        |id: &str| text.lines().find(|line| line.starts_with(id) && line.contains("bias: lstm")).unwrap();
    assert!(row("flare-published-2").contains(",0.9349,0,0.9349,0.9349,2,"), "{}", row("flare-published-2"));
    assert!(row("flare-corrected-2").contains(",0.1,,,,1,"), "{}", row("flare-corrected-2"));
}

#[test]
fn our_values_are_rounded_once_whatever_the_reading() {
    // By way of three decimals these would be 0.94 and 0.99.
    for (value, shown) in [(0.9349, "| 0.93 (1)"), (4985.0 / 5010.0, "| 1.00 (1)")] {
        for reading in Reading::ALL {
            let mut result = scored(["parity", "lstm", "R", "short"], 1, value);
            read_as(&mut result, reading);
            let text = render(&[result], Format::Markdown).unwrap();
            assert!(text.contains(shown), "{reading}: {text}");
        }
    }
}

#[test]
fn no_line_of_a_terminal_table_is_wider_than_100() {
    let mut results = few();
    results.extend(
        ["gru", "mamba-with-a-long-name"].map(|learner| scored(["parity", learner, "R", "short"], 1, 0.5)),
    );
    results.push(sized(scored(["parity", "lstm", "R", "long"], 1, 0.5), 128_000));
    let text = render(&results, Format::Table).unwrap();
    let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
    assert!(widest <= 100, "{widest}:\n{text}");
    assert!(text.contains("mamba-with-a-long-name"));
}

#[test]
fn cautions_name_what_makes_a_table_unreliable() {
    let mut results = few();
    results.push(results[0].clone());
    results[0].run.data_hash = "other".to_owned();
    results[0].run.version = "0.0.9".to_owned();
    let text = render(&results, Format::Markdown).unwrap();
    for caution in [
        "several versions",
        "1 seeds were run more than once",
        "the data differ between runs of one language, drawn with the same seed: parity",
    ] {
        assert!(text.contains(caution), "{caution}");
    }
}

#[test]
fn runs_that_are_not_as_in_the_paper_are_shown_by_protocol() {
    let at = ["parity", "lstm", "R", "short"];
    let other = |change: fn(&mut RunResult)| {
        let mut result = scored(at, 1, 0.123);
        change(&mut result);
        render(&[result], Format::Csv).unwrap()
    };
    let changes: [fn(&mut RunResult); 5] = [
        |r| set(r, "subject", json!("dyck-9-9")),
        |r| r.plan.learner.size = Some(7),
        |r| set(r, "measure.loss", json!("hinge")),
        |r| set(r, "measure.validation", json!(null)),
        |r| "vibes".clone_into(&mut r.run.protocol),
    ];
    for change in changes {
        let text = other(change);
        assert!(text.contains("published-other") && text.contains("0.123"), "{text}");
    }
    let text = other(|r| {
        r.run.coordinates.set("learner", "gru");
        set(r, "learner.name", json!("gru"));
    });
    assert!(text.contains("Inductive bias: gru,0.123,,,,1,,") && !text.contains("other"), "{text}");
}

#[test]
fn messages_cannot_break_a_terminal_table() {
    let mut result = recognition(["parity", "lstm", "R", "short"], 1, Vec::new());
    result.ending = Ending::Failed { message: format!("\u{1b}[31m red\n{}", "漢字 ".repeat(50)) };
    let text = render(&[result], Format::Table).unwrap();
    let line = text.lines().find(|line| line.contains("red") && line.contains("漢字")).unwrap();
    assert!(line.ends_with('…') && !text.contains('\u{1b}'), "{line}");
}

#[test]
fn the_hardest_strings_are_cut_and_ranked() {
    let text = render(&fixtures::many(), Format::Markdown).unwrap();
    let rows: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("| dyck-2-3 | lstm") && line.contains("no member"))
        .collect();
    insta::assert_snapshot!(rows.join("\n"), @r###"
    | dyck-2-3 | lstm | 1 | ε | 0 | no member | 1 | 1 | 0.600 |
    | dyck-2-3 | lstm | 2 | 0 1 0 1 0 1 0 1 0 1 0 1 0 1 | 14 | no member | 3 | 2 | 0.342 |
    | dyck-2-3 | lstm | 3 | 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 | 28 | no member | 3 | 3 | 0.230 |
    | dyck-2-3 | lstm | 4 | 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 … | 42 | no member | 5 | 4 | 0.154 |
    | dyck-2-3 | lstm | 5 | 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 … | 56 | no member | 5 | 5 | 0.105 |
    "###);
}

#[test]
fn small_experiments_have_an_overview() {
    let small = |learner: &str, test: f64| {
        let mut result = as_in_the_paper(scored(["parity", learner, "R", "short"], 1, test));
        set(&mut result, "data.longest", 200.into());
        sized(result, 8000)
    };
    let mut results = vec![small("rnn", 0.5), small("lstm", 0.986)];
    results[0].ending = Ending::Finished;
    let text = render(&results, Format::Table).unwrap();
    insta::assert_snapshot!(text, @r###"
    Runs:      2: 1 finished, 1 stopped
    Protocols: recognition
    Readings:  published
    Versions:  wug 0.1.0
    Caution:   1 of 2 runs reached their last epoch before they would have stopped; more epochs may
               score higher

    recognition: accuracy on the long test set (published reading)

    language   rnn  lstm  chance  parameters
    ────────  ────  ────  ──────  ──────────
    parity    0.50  0.99    0.50  63,713

      Trained on lengths 0-40, tested on lengths 0-200; size: 8000, loss: R, validation: short
      Not to be compared with the figures of Butoi et al. 2025, Training Neural Networks as Recognizers
      of Formal Languages (ICLR): data longest 200 (paper: 500); size 8000 (paper: 64000).
      Chance is the accuracy of always giving the commoner answer.
      Trainable parameters: lstm 63,713, rnn 63,713.
      More than 5 % from the size asked for: lstm 63,713 for 8,000, rnn 63,713 for 8,000.
      Data drawn with seed 0.
      Mean over runs.
      Runs per mean: 1.

    Markdown, CSV, JSON and HTML reports have every table in full.
    "###);
}

#[test]
fn an_overview_shows_intervals_and_the_number_of_runs() {
    let small = |seed, test| {
        let mut result = sized(scored(["parity", "rnn", "R", "short"], seed, test), 8000);
        let interval =
            json!({ "low": 0.4, "high": 0.61, "level": 0.95, "over": "examples", "n": 9, "resamples": 9 });
        result.scores[0].interval = serde_json::from_value(interval).unwrap();
        result
    };
    let row = |results: &[RunResult]| {
        let text = render(results, Format::Markdown).unwrap();
        (text.lines().find(|line| line.starts_with("| parity")).unwrap().to_owned(), text)
    };
    // A single learner is compared with none, and is not the best.
    let (one, text) = row(&[small(1, 0.5)]);
    assert_eq!(one, r"| parity | 0.50 \[0.40, 0.61\] (1) | 0.50 | 63,713 |");
    assert!(text.contains("95% bootstrap interval"), "{text}");
    let (two, text) = row(&[small(1, 0.5), small(2, 0.6)]);
    // Two runs say nearly nothing about a mean.
    assert_eq!(two, r"| parity | 0.55 ± 0.05 \[0.00, 1.00\] (2) | 0.50 | 63,713 |");
    assert!(!text.contains("bootstrap") && text.contains("Student's t"), "{text}");
    assert!(text.contains("Runs in a cell differ in their seed alone."), "{text}");
}

/// An own experiment with a list of learning rates: two seeds of each.
fn compared() -> Vec<RunResult> {
    let run = |(rate, seed, value): (f64, u64, f64)| {
        let mut result = scored(["parity", "lstm", "R", "short"], seed, value);
        result.run.plan = format!("{rate}-{seed}");
        result.run.coordinates.set("learning_rate", rate);
        set(&mut result, "subject", json!("my-parity"));
        set(&mut result, "learner.settings.learning_rate", json!(rate));
        set(&mut result, "learner.settings.clip", json!(1.0 + rate));
        result
    };
    [(0.001, 1, 0.5), (0.001, 2, 0.7), (0.01, 1, 0.8), (0.01, 2, 1.0)].map(run).to_vec()
}

#[test]
fn what_an_experiment_lists_to_compare_is_not_pooled() {
    let text = render(&compared(), Format::Markdown).unwrap();
    for row in ["| parity | 0.001 | 0.60 ± 0.10", "| parity | 0.01 | 0.90 ± 0.10"] {
        assert!(text.contains(row), "{row}: {text}");
    }
    assert!(!text.contains("means mix them"), "{text}");
    let tables = tables(&compared());
    let settings = tables.iter().find(|table| table.id == "recognition-published-settings").unwrap();
    let heads: Vec<&str> = settings.columns.iter().map(|column| column.name.as_str()).collect();
    // The learning rate is a key, and parameters are there once.
    assert_eq!((settings.rows.len(), heads), (2, vec!["runs", "parameters", "clip"]));
}

#[test]
fn means_of_what_no_suite_claims_are_exported() {
    let mut out = Vec::new();
    records(&compared(), &[], &Logs::new(), RecordFormat::Scores, TableFormat::Jsonl, &mut out).unwrap();
    let rows: Vec<serde_json::Value> =
        String::from_utf8(out).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mean =
        |row: &&serde_json::Value| row["derived"] == true && row["metric"] == "recognition_accuracy_mean";
    let means: Vec<_> = rows
        .iter()
        .filter(mean)
        .map(|row| (row["learning_rate"].as_f64(), row["value"].as_f64(), row["runs"].as_u64()))
        .collect();
    assert_eq!(means, [(Some(0.001), Some(0.6), Some(2)), (Some(0.01), Some(0.9), Some(2))]);
}
