//! `wug play`

use std::io::{self, BufRead as _, Write};
use std::path::PathBuf;

use wug_lab::language::Reading;
use wug_lab::play::{FULL, Game, LogLock, Score};

use crate::exit::{Exit, say};
use crate::options::reading;
use crate::safe::write_json;

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wug play                                 all ten tasks, in random order
  wug play qa --log me.jsonl               one of them; the same command goes on where it was stopped
  wug report runs/wade_table4-quick --human me.jsonl

Ten right answers in a row end a task. A row of k right answers is an accuracy of k/10 at its first answer, so that ten
from the start score 1.")]
pub(crate) struct PlayArgs {
    /// The name or number of a task (`wug list tasks`)
    task: Option<String>,
    /// Where answers are logged, and from where the game goes on
    #[arg(long, value_name = "FILE", default_value = "wug-play.jsonl")]
    log: PathBuf,
    /// The same seed gives the same game [default: a new one]
    #[arg(long)]
    seed: Option<u64>,
    /// As published, or corrected [default: corrected]
    #[arg(long, value_parser = reading)]
    reading: Option<Reading>,
    /// Print the scores as JSON
    #[arg(long)]
    json: bool,
}

const QUIT: &str = ":quit";

/// Plays until the game is over, or until the player stops. The log is written after every answer.
pub(crate) fn run(args: &PlayArgs, out: &mut dyn Write) -> Result<(), Exit> {
    // Held to the end: two games with one log would overwrite each other.
    let _lock = LogLock::take(&args.log)?;
    let mut game = begin(args)?;
    let is_new = !args.log.exists();
    // A log that cannot be written is to be known before the first answer.
    game.save(&args.log)?;
    // With --json only the scores go to stdout.
    let mut stderr = io::stderr();
    let talk: &mut dyn Write = if args.json { &mut stderr } else { &mut *out };
    play(args, &mut game, talk)?;
    let scores = game.scores();
    if args.json {
        let scores = serde_json::to_string_pretty(&scores).map_err(|e| Exit::Failure(e.to_string()))?;
        write_json(&scores, out)?;
    } else {
        scores.iter().try_for_each(|score| writeln!(out, "{}", summary(score)))?;
    }
    if game.answers().is_empty() && is_new {
        // Nothing to go on with: what was written is empty.
        let _ = std::fs::remove_file(&args.log);
    } else if !game.answers().is_empty() {
        let log = args.log.display();
        say(&format!(
            "wug: answers are in {log}; `wug report SWEEP --human {log}` shows them beside the learners"
        ));
    }
    Ok(())
}

/// A new game, or the one of the log.
fn begin(args: &PlayArgs) -> Result<Game, Exit> {
    let Some(game) = Game::load(&args.log)? else {
        let seed = args.seed.unwrap_or_else(wug_lab::play::fresh_seed);
        return Ok(Game::new(seed, args.reading.unwrap_or_default(), args.task.as_deref())?);
    };
    let (seed, reading, only) = game.setup();
    let asked = Game::new(seed, reading, args.task.as_deref())?.setup().2;
    let other = args.seed.is_some_and(|asked| asked != seed)
        || args.reading.is_some_and(|asked: Reading| asked != reading)
        || asked.is_some() && asked != only;
    if other {
        let what = only.map_or_else(|| "all tasks".to_owned(), |task| format!("`{task}`"));
        let message = format!(
            "{} is the log of a game of {what} with seed {seed}, {reading} reading; name another with --log",
            args.log.display()
        );
        return Err(Exit::usage(message));
    }
    say(&format!("wug: going on with {}, after {} answers", args.log.display(), game.answers().len()));
    Ok(game)
}

fn play(args: &PlayArgs, game: &mut Game, out: &mut dyn Write) -> Result<(), Exit> {
    let mut lines = io::stdin().lock().lines();
    let mut said = None;
    while let Some(question) = game.question() {
        let (round, _) = game.position();
        if said != Some(round) {
            said = Some(round);
            writeln!(
                out,
                "\nTask {} of this game. The symbols are letters that mean nothing; _ stands for one that is hidden.",
                round + 1
            )?;
            writeln!(
                out,
                "Type the hidden letters. {FULL} right answers in a row end the task; no notes! {QUIT} stops, and the game can go on later.\n"
            )?;
        }
        writeln!(out, "{}", question.shown)?;
        write!(out, "> ")?;
        out.flush()?;
        let Some(line) = lines.next() else { return Ok(()) };
        let line = line?;
        if line.trim() == QUIT {
            return Ok(());
        }
        match game.answer(&line) {
            Err(problem) => {
                writeln!(out, "{problem}\n")?;
                continue;
            }
            Ok(answer) => {
                let verdict = if answer.is_right() { "right" } else { "wrong" };
                writeln!(out, "{verdict}: {}", question.whole)?;
            }
        }
        game.save(&args.log)?;
        let row = game.in_a_row();
        writeln!(out, "{row} in a row\n")?;
        // The last task's score is among those of the whole game, which come next.
        if row >= FULL
            && game.question().is_some()
            && let Some(score) = game.scores().last()
        {
            writeln!(out, "{}", summary(score))?;
        }
    }
    Ok(())
}

fn summary(score: &Score) -> String {
    let Score { task, questions, longest, finished, wade } = score;
    let end = if *finished { "solved" } else { "not solved yet" };
    format!("{task}: {end} after {questions} questions, {longest} right in a row, WADE {wade:.3}")
}
