use super::*;

fn read(text: &str, scale: Scale, sets: &[(&str, &str)]) -> Result<Experiment, String> {
    let sets: Vec<(String, String)> = sets.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    Experiment::read("x", "x.toml", text, scale, &sets).map_err(|error| error.to_string())
}

const SMALL: &str = "title = \"small\"\n\n[[recognition]]\nlanguages = [\"parity\", \"first\"]\nseeds = 2\n\
                     [recognition.data]\ntest = 100\n[recognition.quick]\nseeds = 1\n[recognition.quick.data]\ntest = 50\n\
                     [recognition.smoke]\nlearners = [\"rnn\"]\n";

fn plan(run: &RunPlan) -> &recognition::Plan {
    let RunPlan::Recognition(plan) = run;
    plan
}

#[test]
fn scales_and_sets_change_what_they_name_and_nothing_else() {
    let paper = read(SMALL, Scale::Paper, &[]).unwrap();
    assert_eq!(paper.runs.len(), 2 * 2 * 3 * 4 * 2);
    let quick = read(SMALL, Scale::Quick, &[]).unwrap();
    assert_eq!(quick.runs.len(), 2 * 3 * 4 * 2);
    assert_eq!((plan(&quick.runs[0]).data.test, plan(&quick.runs[0]).data.training), (50, 10_000));
    let smoke = read(SMALL, Scale::Smoke, &[("losses", "R,R+NS"), ("recognition.data.test", "7")]).unwrap();
    assert_eq!(smoke.runs.len(), 2 * 2 * 2 * 2);
    assert_eq!(plan(&smoke.runs[0]).data.test, 7);
    let one = read(
        SMALL,
        Scale::Paper,
        &[("learning_rate", "0.005"), ("languages", "parity"), ("validation", "long")],
    )
    .unwrap();
    assert_eq!(one.runs.len(), 2 * 3 * 4);
    assert!(one.runs.iter().all(|run| (plan(run).learning_rate - 0.005).abs() < 1e-15));
}

#[test]
fn hyperparameters_stay_in_their_ranges_and_differ_between_runs() {
    let runs = read(SMALL, Scale::Paper, &[]).unwrap().runs;
    let rates: std::collections::BTreeSet<u64> =
        runs.iter().map(|r| plan(r).learning_rate.to_bits()).collect();
    assert_eq!(rates.len(), runs.len());
    for run in &runs {
        let plan = plan(run);
        assert!((1e-4..=1e-2).contains(&plan.learning_rate) && (128..=4096).contains(&plan.batch_symbols));
        let (lm, ns) = plan.loss.heads();
        for (head, weight) in [(lm, plan.weights.language_modeling), (ns, plan.weights.next_symbols)] {
            assert!(if head { (0.01..=10.0).contains(&weight) } else { weight == 0.0 }, "{weight}");
        }
    }
}

#[test]
fn the_same_spec_gives_the_same_ids_and_other_specs_give_others() {
    let ids =
        |sets| read(SMALL, Scale::Paper, sets).unwrap().runs.iter().map(RunPlan::id).collect::<Vec<_>>();
    assert_eq!(ids(&[]), ids(&[]));
    let all: std::collections::BTreeSet<String> =
        ids(&[]).into_iter().chain(ids(&[("dropout", "0.2")])).collect();
    assert_eq!(all.len(), 2 * ids(&[]).len());
}

#[test]
fn slips_are_named_with_field_line_and_neighbour() {
    let error = |from: &str, to: &str| read(&SMALL.replacen(from, to, 1), Scale::Paper, &[]).unwrap_err();
    let message = error("seeds = 2", "seed = 2");
    assert!(message.starts_with("x.toml, line 5: `seed`: unknown field; did you mean `seeds`?"), "{message}");
    let message = error("\"parity\"", "\"partiy\"");
    assert!(
        message.starts_with("x.toml, line 4: `languages`: unknown language `partiy`; did you mean `parity`?"),
        "{message}"
    );
    let message = error("[\"rnn\"]", "[\"rnm\"]");
    assert_eq!(read(&SMALL.replacen("\"rnn\"", "\"rnm\"", 1), Scale::Smoke, &[]).unwrap_err(), message);
    assert!(
        message.starts_with("x.toml, line 13: `learners`: unknown name `rnm`; did you mean `rnn`?"),
        "{message}"
    );
    let message = error("seeds = 2", "seeds = \"two\"");
    assert!(message.contains("line 5") && message.contains("invalid type: string"), "{message}");
    let message = error("title = \"small\"", "title = ");
    assert!(message.starts_with("x.toml, line 1"), "{message}");
    let message = error("seeds = 2", "dropout = 1.5");
    assert_eq!(message, "x.toml, line 5: `dropout`: cannot be 1.5; it must be from 0 to below 1");
    let message = error("test = 50", "tset = 50");
    assert!(message.starts_with("x.toml, line 11: `tset`: unknown field; did you mean `test`?"), "{message}");
    let message = read(SMALL, Scale::Paper, &[("sedes", "3")]).unwrap_err();
    assert!(
        message.contains("`sedes`: unknown field; did you mean `seeds` or `sizes`? There are: reading"),
        "{message}"
    );
    assert!(read("title = \"x\"", Scale::Paper, &[]).unwrap_err().contains("has no runs"));
}

#[test]
fn every_built_in_experiment_can_be_planned_at_every_scale() {
    for (name, text) in BUILT_IN {
        for scale in Scale::ALL {
            let experiment = Experiment::read(name, name, text, scale, &[]).unwrap();
            assert!(!experiment.runs.is_empty(), "{name} {}", scale.name());
        }
    }
}
