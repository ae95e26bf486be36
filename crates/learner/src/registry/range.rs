//! Settings that each run draws from a range.

use wug_dataset::Seed;
use wug_language::draw;
use wug_parameter::{Parameter, Range, SettingValue as Value};

/// Draws a value from a range that was checked.
///
/// ```
/// use wug_dataset::Seed;
/// use wug_learner::registry::{Range, Role, SettingValue, drawn, find};
/// let settings = find("lstm", Role::Recognizer).unwrap().settings(Role::Recognizer).unwrap();
/// let batch = settings.iter().find(|setting| setting.name == "batch_symbols").unwrap();
/// let range = Range { from: 128.0, to: 4096.0, log: false };
/// assert!(matches!(drawn(batch, range, Seed::new(1)), SettingValue::Count(128..=4096)));
/// ```
pub fn drawn(parameter: &Parameter, range: Range, seed: Seed) -> Value {
    let Range { from, to, log } = range;
    let whole = parameter.limits.is_whole();
    if whole && !log {
        // Both ends included, as FLaRe draws its batch sizes from 128 to 4096.
        let steps = (to - from) as usize;
        return parameter.number(from + draw::below(&mut seed.rng(), steps + 1) as f64);
    }
    let share = draw::unit(&mut seed.rng());
    let x = if log {
        // FLaRe draws learning rates and loss weights evenly over their logarithms.
        libm::exp(libm::log(from) + share * (libm::log(to) - libm::log(from)))
    } else {
        from + share * (to - from)
    };
    // exp(ln x) may miss an end by a bit.
    let x = x.clamp(from, to);
    parameter.number(if whole { libm::rint(x) } else { x })
}
