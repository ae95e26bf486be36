use super::*;
use crate::kernel::testing::{check_finite_differences, close, values};
use crate::kernel::{Activation, Attention, Augmented, MemoryKind, Recurrence, Sinusoid};
use crate::params::{Init, Layout, Param};

/// Checks the gradient of every parameter of a forward pass by finite differences, and that later steps allocate nothing.
fn check(layout: &Layout, forward: impl Fn(&mut Recording<'_, f64>)) {
    let params = values(11, layout.count());
    let mode = Mode::Train { seed: 5 };
    let mut tape = Tape::default();
    let mut gradients = vec![0.0; params.len()];
    let mut capacity = 0;
    for round in 0..4 {
        let mut t = tape.record(&params, mode);
        forward(&mut t);
        if round % 2 == 0 {
            gradients.fill(0.0);
            t.backward(&mut gradients);
        } else {
            gradients.fill(f64::NAN);
            t.backward_fresh(&mut gradients);
        }
        assert!(capacity == 0 || capacity == tape.capacity(), "the tape grew");
        capacity = tape.capacity();
    }
    check_finite_differences(&params, &gradients, |params| {
        let mut t = tape.record(params, mode);
        forward(&mut t);
        t.loss()
    });
}

fn targets(n: usize, v: u32) -> impl Iterator<Item = (u32, f64)> {
    (0..n as u32).map(move |i| (i * 7 % v, 0.1 + f64::from(i % 3)))
}

fn add(layout: &mut Layout, name: &str, len: usize) -> Param {
    layout.add(name, &[len], Init::Constant(0.0))
}

fn layer(layout: &mut Layout, name: &str, gates: usize, i: usize, h: usize) -> Layer {
    let mut add = |part: &str, len: usize| add(layout, &format!("{name}.{part}"), len);
    Layer {
        input: add("input", gates * h * i),
        hidden: add("hidden", gates * h * h),
        bias: Some(add("bias", gates * h)),
        second_bias: Some(add("second", gates * h)),
    }
}

#[test]
fn recurrent_layers_stack_with_learned_starts_and_dropout() {
    let (v, d, h, n) = (4, 3, 5, Recurrence { steps: 3, batch: 2, input: 3, hidden: 5 });
    for kind in 0..3 {
        let mut layout = Layout::default();
        let table = add(&mut layout, "table", v * d);
        let start = add(&mut layout, "start", h);
        let cell = add(&mut layout, "cell", h);
        let gates = [1, 4, 3][kind];
        let one = layer(&mut layout, "one", gates, d, h);
        let two = layer(&mut layout, "two", gates, h, h);
        let head = add(&mut layout, "head", v * h);
        check(&layout, |t| {
            let x = t.embedding(table, [0, 1, 3, 2, 0, 1], d, 1.0);
            let x = t.masked(x, 0.2);
            let h0 = t.repeat(start, 2, Activation::Tanh);
            let c0 = t.repeat(cell, 2, Activation::Identity);
            let mut run = |x, layer, n: Recurrence| match kind {
                0 => t.rnn(x, Some(h0), layer, n, Activation::Tanh),
                1 => t.lstm(x, Some((h0, c0)), layer, n).0,
                _ => t.gru(x, Some(h0), layer, n),
            };
            let first = run(x, one, n);
            let x = t.part(first, 2 * h, 6 * h);
            let x = t.masked(x, 0.2);
            let n = Recurrence { input: h, ..n };
            let states = match kind {
                0 => t.rnn(x, None, two, n, Activation::Relu),
                1 => t.lstm(x, None, two, n).0,
                _ => t.gru(x, None, two, n),
            };
            let rows = t.masked(states, 0.3);
            let rows = t.select(rows, [0, 1, 2, 7, 5, 5, 3, 6], h);
            let logits = t.linear(rows, head, None, h, Activation::Identity);
            t.softmax_loss(logits, v, targets(8, v as u32));
        });
    }
}

/// Weights that are used several times, for one step and for more, with and without dropout: their gradients are deferred to
/// the end of the backward pass.
#[test]
fn deferred_gradients_are_complete() {
    let (v, d, h) = (4, 3, 5);
    let mut layout = Layout::default();
    let table = add(&mut layout, "table", v * d);
    let own = layer(&mut layout, "own", 4, d, h);
    let back = (add(&mut layout, "back", d * h), add(&mut layout, "back.bias", d));
    let head = add(&mut layout, "head", v * h);
    check(&layout, |t| {
        let n = Recurrence { steps: 1, batch: 2, input: d, hidden: h };
        let x = t.embedding(table, [0, 3], d, 1.0);
        let (states, cells) = t.lstm(x, None, own, n);
        let mut state = (t.part(states, 2 * h, 2 * h), cells);
        for (steps, drop) in [(2, 0.0), (1, 0.3), (1, 0.0)] {
            let fed = t.linear(state.0, back.0, Some(back.1), h, Activation::Tanh);
            let fed = t.select(fed, [0, 1].repeat(steps), d);
            let fed = t.masked(fed, drop);
            let (states, cells) = t.lstm(fed, Some(state), own, Recurrence { steps, ..n });
            state = (t.part(states, steps * 2 * h, 2 * h), cells);
        }
        let logits = t.linear(state.0, head, None, h, Activation::Identity);
        t.softmax_loss(logits, v, targets(2, v as u32));
    });
}

/// One weight in two shapes, and after a backward pass that panicked.
#[test]
fn deferred_gradients_are_grouped_by_shape_and_discarded_after_a_panic() {
    let mut layout = Layout::default();
    let (table, weight) = (add(&mut layout, "table", 24), add(&mut layout, "weight", 12));
    let forward = |t: &mut Recording<'_, f64>| {
        for (i, symbols) in [(3, [0, 1]), (4, [2, 0]), (3, [3, 3])] {
            let x = t.embedding(table, symbols, i, 1.0);
            let logits = t.linear(x, weight, None, i, Activation::Tanh);
            t.softmax_loss(logits, 12 / i, targets(2, 3));
        }
    };
    check(&layout, forward);
    let (params, mut tape) = (values(1, layout.count()), Tape::default());
    let gradients = |tape: &mut Tape<f64>| {
        let mut gradients = vec![0.0; params.len()];
        let mut t = tape.record(&params, Mode::Grad);
        forward(&mut t);
        t.backward(&mut gradients);
        gradients
    };
    let expected = gradients(&mut tape);
    let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let mut t = tape.record(&params, Mode::Grad);
        let x = t.embedding(table, [0, 1], 3, 1.0);
        let part = t.part(x, 3, 3);
        for x in [x, part] {
            let logits = t.linear(x, weight, None, 3, Activation::Identity);
            t.softmax_loss(logits, 4, targets(if x == part { 1 } else { 2 }, 3));
        }
        t.backward(&mut vec![0.0; params.len()]);
    }));
    assert!(failed.is_err());
    assert_eq!(gradients(&mut tape), expected);
}

/// A gated layer whose normalised weights are used twice, rows scaled one by one.
#[test]
fn weights_may_be_tensors() {
    let (v, d, o) = (4, 3, 2);
    let mut layout = Layout::default();
    let table = add(&mut layout, "table", v * d);
    let direction = add(&mut layout, "direction", 2 * o * d);
    let length = add(&mut layout, "length", 2 * o);
    let bias = add(&mut layout, "bias", 2 * o);
    let head = add(&mut layout, "head", v * o);
    check(&layout, |t| {
        let weight = t.weight_norm(direction, length);
        let x = t.embedding(table, [0, 3, 1], d, 1.0);
        let once = t.product(x, weight, bias, d);
        let x = t.scale_rows(x, [0.5, -2.0, 3.0].into_iter(), d);
        let twice = t.product(x, weight, bias, d);
        let sum = t.add(once, twice);
        let passed = t.glu(sum, o);
        let logits = t.linear(passed, head, None, o, Activation::Identity);
        t.softmax_loss(logits, v, targets(3, v as u32));
    });
}

#[test]
fn scale_gradient_leaves_values_alone() {
    let mut layout = Layout::default();
    let table = add(&mut layout, "table", 6);
    let params = values(11, layout.count());
    let gradients = |factor: f64| {
        let (mut tape, mut gradients) = (Tape::default(), vec![0.0; 6]);
        let mut t = tape.record(&params, Mode::Grad);
        let x = t.embedding(table, [1, 0], 3, 1.0);
        let x = t.scale_gradient(x, factor);
        assert_eq!(t.value(x)[..3], params[3..]);
        t.softmax_loss(x, 3, targets(2, 3));
        t.backward(&mut gradients);
        gradients
    };
    let quarter: Vec<f64> = gradients(1.0).iter().map(|g| g / 4.0).collect();
    close(&gradients(0.25), &quarter, 1e-15);
}

/// With many blocks of steps, and enough rows for weights to be packed.
#[test]
fn dropout_on_reading_equals_a_dropped_copy() {
    let (v, d, h, n) = (4, 7, 40, Recurrence { steps: 30, batch: 33, input: 7, hidden: 40 });
    for kind in 0..3 {
        let mut layout = Layout::default();
        let table = add(&mut layout, "table", v * d);
        let own = layer(&mut layout, "own", [1, 4, 3][kind], d, h);
        let head = add(&mut layout, "head", h);
        let (params, mut tape) = (values(1, layout.count()), Tape::default());
        let mut gradients = |copied: bool| {
            let mut gradients = vec![0.0; params.len()];
            let mut t = tape.record(&params, Mode::Train { seed: 5 });
            let x = t.embedding(table, (0..n.steps * n.batch).map(|i| (i * i % v) as u32), d, 1.0);
            let mut x = t.masked(x, 0.3);
            if copied {
                x = t.materialize(x).into();
            }
            let states = match kind {
                0 => t.rnn(x, None, own, n, Activation::Tanh),
                1 => t.lstm(x, None, own, n).0,
                _ => t.gru(x, None, own, n),
            };
            let logits = t.linear(states, head, None, h, Activation::Identity);
            t.logistic_loss(logits, (0..31 * 33).map(|i| (f64::from(i % 2), 0.01)));
            t.backward(&mut gradients);
            gradients
        };
        let expected = gradients(true);
        close(&gradients(false), &expected, 1e-13);
        // Whatever the workspace held before.
        close(&gradients(false), &expected, 1e-13);
    }
}

#[test]
fn networks_with_a_memory_work_between_other_layers() {
    let (v, d, h, m) = (4, 3, 5, 2);
    for (gates, device) in [(1, MemoryKind::Stack), (4, MemoryKind::BabyNtm)] {
        let mut layout = Layout::default();
        let table = add(&mut layout, "table", v * d);
        let network = layer(&mut layout, "network", gates, d, h);
        let mut pair = |name: &str, o: usize, i: usize| {
            (add(&mut layout, name, o * i), add(&mut layout, &format!("{name}.bias"), o))
        };
        let (read, action) = (pair("read", h, m), pair("action", device.actions(), h));
        let (element, head) = (pair("element", m, h), pair("head", v, h));
        let own = AugmentedLayer { network, read, action, element, temperature: None };
        let recurrence = Recurrence { steps: 3, batch: 2, input: d, hidden: h };
        let n = Augmented { recurrence, lstm: gates == 4, device, rows: 4, width: m };
        check(&layout, |t| {
            let x = t.embedding(table, [0, 1, 3, 2, 0, 1], d, 1.0);
            let noise = t.gumbel(6 * device.actions());
            let states = t.augmented(x, noise, own, n);
            let logits = t.linear(states, head.0, Some(head.1), h, Activation::Identity);
            t.squared_loss(logits, (0..8 * v).map(|i| (f64::from(i as u32 % 2), 0.3)));
        });
    }
}

#[test]
fn gumbel_noise_has_the_mean_and_variance_of_gumbel() {
    let mut tape = Tape::<f64>::default();
    let mut t = tape.record(&[], Mode::Train { seed: 3 });
    let noise = t.gumbel(100_000).unwrap();
    let mean = t.value(noise).iter().sum::<f64>() / 1e5;
    let variance = t.value(noise).iter().map(|g| (g - mean) * (g - mean)).sum::<f64>() / 1e5;
    // Euler's constant and π²/6.
    assert!((mean - 0.577_22).abs() < 0.02 && (variance - 1.644_93).abs() < 0.05, "{mean} {variance}");
    assert_eq!(tape.record(&[], Mode::Eval).gumbel(3), None);
}

#[test]
fn a_decoder_may_start_where_an_encoder_ends() {
    let (d, h, n) = (3, 4, Recurrence { steps: 3, batch: 2, input: 3, hidden: 4 });
    let mut layout = Layout::default();
    let table = add(&mut layout, "table", 4 * d);
    let (encoder, decoder) = (layer(&mut layout, "encoder", 4, d, h), layer(&mut layout, "decoder", 4, d, h));
    let head = add(&mut layout, "head", h);
    let bias = add(&mut layout, "bias", 1);
    check(&layout, |t| {
        let x = t.embedding(table, [0, 1, 3, 2, 0, 1], d, 1.0);
        let (one, two) = (t.masked(x, 0.2), t.masked(x, 0.4));
        let (states, cell) = t.lstm(one, None, encoder, n);
        let last = t.part(states, 3 * 2 * h, 2 * h);
        let (states, _) = t.lstm(two, Some((last, cell)), decoder, n);
        let logits = t.linear(states, head, Some(bias), h, Activation::Identity);
        t.logistic_loss(logits, (0..8).map(|i| (f64::from(i % 2), 0.5)));
    });
}

#[test]
fn transformer_blocks_stack_with_residuals_and_dropout() {
    let (v, d, n) =
        (4, 4, Attention { batch: 2, queries: 3, keys: 3, width: 4, heads: 2, causal: true, prefix: 0 });
    let mut layout = Layout::default();
    let table = add(&mut layout, "table", v * d);
    let positions = add(&mut layout, "positions", 3 * d);
    let norm =
        LayerNorm { gain: add(&mut layout, "gain", d), bias: add(&mut layout, "bias", d), epsilon: 1e-5 };
    let qkv = add(&mut layout, "qkv", 3 * d * d);
    let (up, down) = (add(&mut layout, "up", 2 * d * d), add(&mut layout, "down", 2 * d * d));
    let up_bias = add(&mut layout, "up.bias", 2 * d);
    check(&layout, |t| {
        let x = t.embedding(table, [0, 1, 3, 2, 0, 1], d, 2.0);
        t.add_sinusoids(x, 3, 0, d, Sinusoid::Halves);
        let mut x = t.add_param(x, positions);
        for _ in 0..2 {
            let y = t.layer_norm(x, norm);
            let y = t.linear(y, qkv, None, d, Activation::Identity);
            let y = t.attention(y, n, 0.3);
            x = t.add(x, y);
            let y = t.layer_norm(x, norm);
            let y = t.linear(y, up, Some(up_bias), d, Activation::Relu);
            let y = t.linear(y, down, None, 2 * d, Activation::Identity);
            let y = t.dropout(y, 0.3);
            x = t.add(x, y);
        }
        let x = t.select(x, [2, 5, 5], d);
        let logits = t.linear(x, table, None, d, Activation::Identity);
        t.softmax_loss(logits, v, targets(3, v as u32));
    });
}

#[test]
fn evaluation_drops_nothing_and_data_has_no_gradient() {
    let mut layout = Layout::default();
    let weight = add(&mut layout, "weight", 6);
    let params = values(1, 6);
    let mut tape = Tape::default();
    let mut t = tape.record(&params, Mode::Eval);
    let x = t.one_hot([2, 0], 3);
    let kept = t.dropout(x, 0.9);
    assert_eq!(x, kept);
    let out = t.linear(x, weight, None, 3, Activation::Identity);
    assert_eq!(t.value(out), [params[2], params[5], params[0], params[3]]);
    let mut t = tape.record(&params, Mode::Train { seed: 1 });
    let x = t.one_hot([2, 0], 3);
    let kept = t.dropout(x, 0.9);
    let out = t.linear(kept, weight, None, 3, Activation::Identity);
    t.logistic_loss(out, [(1.0, 1.0); 4]);
    t.backward(&mut [0.0; 6]);
}

#[test]
fn cross_attention_to_strings_of_unequal_length_with_joined_and_scaled_tensors() {
    let (v, d) = (4, 6);
    let mut layout = Layout::default();
    let table = add(&mut layout, "table", v * d);
    let (query, key) = (add(&mut layout, "query", d * d), add(&mut layout, "key", d * d));
    let out = add(&mut layout, "out", v * 2 * d);
    check(&layout, |t| {
        // Two strings, of three symbols and of one, with two queries each; attended to twice, as by the steps of a decoder.
        let source = t.embedding(table, [0, 1, 3, 2, 0, 0], d, 1.0);
        let keys = t.linear(source, key, None, d, Activation::Identity);
        let scaled = t.scale(keys, 1.5);
        let both = t.join(&[scaled, source], 6);
        let x = t.embedding(table, [1, 2, 3, 1], d, 1.0);
        let first = t.linear(x, query, None, d, Activation::Identity);
        let once = t.cross_attention(first, both, &[3, 1], HeadSizes { width: d, heads: 2 }, 0.3);
        let second = t.linear(once, query, None, d, Activation::Tanh);
        let twice = t.cross_attention(second, both, &[3, 1], HeadSizes { width: d, heads: 2 }, 0.0);
        let nothing = t.zeros(4 * d);
        let all = t.join(&[twice, once], 4);
        let more = t.join(&[nothing, x], 4);
        let rows = t.join(&[all, more], 1);
        let logits = t.linear(rows, out, None, 2 * d, Activation::Identity);
        t.softmax_loss(logits, v, targets(8, v as u32));
    });
}

/// Rows that are in several ranges, or in none.
#[test]
fn means_over_rows_share_their_gradient() {
    let (v, d) = (3, 4);
    let mut layout = Layout::default();
    let table = add(&mut layout, "table", 5 * d);
    let head = add(&mut layout, "head", v * d);
    check(&layout, |t| {
        let x = t.embedding(table, [0, 1, 2, 3, 4, 2], d, 1.0);
        let x = t.mean_rows(x, [(0, 3), (2, 1), (2, 3)], d);
        let x = t.linear(x, head, None, d, Activation::Identity);
        t.softmax_loss(x, v, targets(3, v as u32));
    });
}
