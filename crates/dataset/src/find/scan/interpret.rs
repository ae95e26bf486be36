//! What a command means, top-down from its text: written apart from the generator, so that each checks the
//! other.

use thiserror::Error;

/// Words that are no SCAN command.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("`{command}` is no SCAN command: found `{found}`, expected {expected}")]
pub struct NotACommand {
    pub command: String,
    /// The words that cannot be read.
    pub found: String,
    /// What could have stood there.
    pub expected: &'static str,
}

type Actions = Vec<&'static str>;

/// The actions that a command asks for.
///
/// ```
/// use wug_dataset::find::scan::interpret;
/// assert_eq!(interpret("walk after turn left").unwrap(), ["I_TURN_LEFT", "I_WALK"]);
/// let text = "`run up` is no SCAN command: found `up`, expected left or right";
/// assert_eq!(interpret("run up").unwrap_err().to_string(), text);
/// ```
pub fn interpret(command: &str) -> Result<Vec<&'static str>, NotACommand> {
    let words: Vec<&str> = command.split_whitespace().collect();
    // The grammar has at most one conjunction, so a second one cannot be part of a phrase.
    let joint = words.iter().position(|&word| word == "and" || word == "after");
    let actions = match joint {
        None => single(&words),
        Some(i) => {
            let (x, y) = (single(&words[..i]), single(&words[i + 1..]));
            let (first, second) = if words[i] == "and" { (x, y) } else { (y, x) };
            first.and_then(|first| Ok([first, second?].concat()))
        }
    };
    actions.map_err(|(found, expected)| NotACommand { command: command.to_owned(), found, expected })
}

/// The words that cannot be read, and what could have stood there.
type Misread = (String, &'static str);

fn single(words: &[&str]) -> Result<Actions, Misread> {
    match words {
        [phrase @ .., "twice"] => Ok(directed(phrase)?.repeat(2)),
        [phrase @ .., "thrice"] => Ok(directed(phrase)?.repeat(3)),
        phrase => directed(phrase),
    }
}

fn directed(phrase: &[&str]) -> Result<Actions, Misread> {
    match *phrase {
        ["turn"] => Err(("turn".to_owned(), "walk, look, run, jump or a direction after turn")),
        [verb] => act(verb),
        [verb, side] => Ok([vec![turn(side)?], act(verb)?].concat()),
        [verb, "opposite", side] => Ok([vec![turn(side)?; 2], act(verb)?].concat()),
        [verb, "around", side] => Ok([vec![turn(side)?], act(verb)?].concat().repeat(4)),
        _ => Err((phrase.join(" "), "a verb, then perhaps opposite or around, then perhaps left or right")),
    }
}

fn turn(side: &str) -> Result<&'static str, Misread> {
    match side {
        "left" => Ok("I_TURN_LEFT"),
        "right" => Ok("I_TURN_RIGHT"),
        _ => Err((side.to_owned(), "left or right")),
    }
}

fn act(verb: &str) -> Result<Actions, Misread> {
    match verb {
        "turn" => Ok(vec![]),
        "walk" => Ok(vec!["I_WALK"]),
        "look" => Ok(vec!["I_LOOK"]),
        "run" => Ok(vec!["I_RUN"]),
        "jump" => Ok(vec!["I_JUMP"]),
        _ => Err((verb.to_owned(), "turn, walk, look, run or jump")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find::scan;

    #[test]
    fn generator_and_interpreter_agree_on_every_command() {
        let (source, target) = (scan::source(), scan::target());
        for pair in scan::commands() {
            let command = source.format(&pair.input);
            assert_eq!(interpret(&command).unwrap().join(" "), target.format(&pair.output), "{command}");
        }
    }

    #[test]
    fn the_interpreter_accepts_the_commands_and_nothing_else_up_to_four_words() {
        let source = scan::source();
        let known: std::collections::BTreeSet<_> = scan::commands().into_iter().map(|p| p.input).collect();
        let mut words = vec![vec![]];
        for _ in 0..=4 {
            for word in &words {
                let accepted = interpret(&source.format(word)).is_ok();
                assert_eq!(accepted, known.contains(word), "{}", source.format(word));
            }
            words = words
                .iter()
                .flat_map(|w| source.symbols().map(move |s| w.iter().copied().chain([s]).collect()))
                .collect();
        }
    }
}
