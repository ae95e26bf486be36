//! Children that say far too much while they are fitted.

use super::*;

/// What a child that does something at `fit` comes to, and how many events were heard.
fn fitted(does: &str, fit: Duration) -> (Result<Fitted, Failure>, usize) {
    let limits = Limits { fit, answer: Duration::from_mins(1) };
    let mut child = ChildProcess::begin(&child("fit", does), limits, &Host::default()).unwrap();
    let mut heard = 0;
    let end = child.fit(&task(), &mut |event| {
        heard += usize::from(matches!(event, Event::Progress { .. }));
        go_on(event)
    });
    (end, heard)
}

#[test]
fn fit_seconds_hold_in_a_flood_of_progress_lines() {
    let flood = "\n        while True: sys.stdout.write('{\"progress\": {\"epoch\": 1}}\\n' * 10000)";
    let begun = Instant::now();
    let (end, heard) = fitted(flood, Duration::from_secs(2));
    let took = begun.elapsed();
    let message = format!("{:?}", end.unwrap_err());
    assert!(message.contains("did not answer `fit` within 2s"), "{message}");
    assert!(heard > 0);
    assert!(took < Duration::from_secs(30), "{took:?}");
    let _ = writeln!(std::io::stderr(), "{heard} lines, then after {took:?}: {message}");
}

#[test]
fn many_lines_at_once_are_taken_in_linear_time() {
    let many = "\n        for i in range(40): sys.stdout.write('{\"progress\": {\"epoch\": 1}}\\n' * 10000)";
    let (end, heard) = fitted(many, Duration::from_mins(2));
    assert_eq!(end.unwrap(), Fitted::default());
    assert_eq!(heard, 400_000);
}

#[test]
fn a_progress_line_is_bounded_on_its_own() {
    let long = "print(json.dumps({'progress': {'epoch': 1, 'note': 'x' * 100000}}), flush=True)";
    let message = format!("{:?}", fitted(long, Duration::from_mins(1)).0.unwrap_err());
    assert!(message.contains("its `progress` has 100038 bytes; it may have at most 65536"), "{message}");
    // A checkpoint may be as long as a model.
    let checkpoint = "print(json.dumps({'checkpoint': 'x' * 1000000}), flush=True)";
    assert_eq!(fitted(checkpoint, Duration::from_mins(1)).0.unwrap(), Fitted::default());
}
