//! Networks as JSON: units and edges by number, weights as sign, numerator and denominator.

use serde_json::{Map, Value, json};

use super::activation::UnitActivation;
use super::network::{MAX_UNITS, MdlNetwork, NetworkEdge, NetworkError, NetworkUnit, UnitKind};
use super::weight::RationalWeight;

/// JSON that is no network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct NetworkJsonError {
    /// Where in the file.
    pub place: String,
    pub problem: String,
}

fn problem(place: impl Into<String>, problem: impl Into<String>) -> NetworkJsonError {
    NetworkJsonError { place: place.into(), problem: problem.into() }
}

impl From<NetworkError> for NetworkJsonError {
    fn from(error: NetworkError) -> Self {
        problem("net", error.to_string())
    }
}

/// The most edges of a file.
const MAX_EDGES: usize = 1 << 20;

impl MdlNetwork {
    /// The network as JSON.
    pub fn to_json(&self) -> Value {
        let unit = |(id, unit): (usize, &NetworkUnit)| {
            json!({
                "id": id,
                "activation": unit.activation.name(),
                "activation_id": unit.activation.id(),
                "type": match unit.kind { UnitKind::Sum => "sum", UnitKind::Product => "product" },
                "bias": unit.bias.map(weight_json),
            })
        };
        let edge = |edge: &NetworkEdge| {
            let mut json = weight_json(edge.weight);
            let mut all = Map::new();
            all.insert("src".to_owned(), json!(edge.source));
            all.insert("dst".to_owned(), json!(edge.target));
            if let Value::Object(weight) = &mut json {
                all.append(weight);
            }
            Value::Object(all)
        };
        let ends: Vec<usize> = (0..self.inputs() + self.outputs()).collect();
        json!({
            "num_units": self.units.len(),
            "inputs": ends[..self.inputs()],
            "outputs": ends[self.inputs()..],
            "units": self.units.iter().enumerate().map(unit).collect::<Vec<_>>(),
            "forward": self.forward().iter().map(edge).collect::<Vec<_>>(),
            "recurrent": self.recurrent().iter().map(edge).collect::<Vec<_>>(),
        })
    }

    /// A network from JSON: the network itself, or an object that has it as `net`. That object may have other fields; the network
    /// has none but its own, so that one that is misspelt is not taken for one that is left out.
    pub fn from_json(value: &Value) -> Result<Self, NetworkJsonError> {
        let net = value.get("net").unwrap_or(value);
        let object = net.as_object().ok_or_else(|| problem("net", "not an object"))?;
        only(object, &["num_units", "inputs", "outputs", "units", "forward", "recurrent"], "net")?;
        let units = units(list(object, "units")?)?;
        if let Some(given) =
            object.get("num_units").filter(|given| given.as_u64() != Some(units.len() as u64))
        {
            return Err(problem("net.num_units", format!("{given}, but there are {} units", units.len())));
        }
        let inputs = ends(object, "inputs", 0)?;
        let outputs = ends(object, "outputs", inputs)?;
        let mut edges = Vec::new();
        for (name, recurrent) in [("forward", false), ("recurrent", true)] {
            let listed = list(object, name)?;
            if edges.len() + listed.len() > MAX_EDGES {
                return Err(problem(format!("net.{name}"), format!("more than {MAX_EDGES} edges")));
            }
            for (i, edge) in listed.iter().enumerate() {
                edges.push(edge_of(edge, recurrent, units.len(), &format!("net.{name}[{i}]"))?);
            }
        }
        Ok(Self::new(inputs, outputs, units, edges)?)
    }
}

impl MdlNetwork {
    /// The network as short arrays of numbers, for checkpoints.
    pub(super) fn to_compact(&self) -> Value {
        let weight = |w: RationalWeight| [u32::from(w.negative), w.numerator, w.denominator];
        let mut units = Vec::new();
        for unit in &self.units {
            units.extend([u32::from(unit.activation.id()), u32::from(unit.kind == UnitKind::Product)]);
            units.extend(unit.bias.map_or([0, 0, 0], weight));
        }
        let mut edges = Vec::new();
        for edge in &self.edges {
            edges.extend([u32::from(edge.recurrent), u32::from(edge.source), u32::from(edge.target)]);
            edges.extend(weight(edge.weight));
        }
        json!([self.inputs, self.outputs, units, edges])
    }

    /// A network as [`to_compact`](Self::to_compact) writes it.
    pub(super) fn from_compact(value: &Value) -> Option<Self> {
        let numbers = |value: &Value| -> Option<Vec<u32>> {
            value.as_array()?.iter().map(|x| u32::try_from(x.as_u64()?).ok()).collect()
        };
        let weight = |w: &[u32]| RationalWeight { negative: w[0] == 1, numerator: w[1], denominator: w[2] };
        let mut units = Vec::new();
        for unit in numbers(&value[2])?.chunks(5) {
            let [activation, product, _, _, denominator] = *unit else { return None };
            units.push(NetworkUnit {
                activation: *UnitActivation::ALL.get(activation as usize)?,
                kind: if product == 1 { UnitKind::Product } else { UnitKind::Sum },
                bias: (denominator > 0).then(|| weight(&unit[2..])),
            });
        }
        let mut edges = Vec::new();
        for edge in numbers(&value[3])?.chunks(6) {
            let [recurrent, source, target, ..] = *edge else { return None };
            edges.push(NetworkEdge {
                recurrent: recurrent == 1,
                source: u16::try_from(source).ok()?,
                target: u16::try_from(target).ok()?,
                weight: weight(edge.get(3..6)?),
            });
        }
        let ends = |value: &Value| usize::try_from(value.as_u64()?).ok();
        Self::new(ends(&value[0])?, ends(&value[1])?, units, edges).ok()
    }
}

fn weight_json(weight: RationalWeight) -> Value {
    let sign = if weight.negative { -1 } else { 1 };
    json!({ "sign": sign, "num": weight.numerator, "den": weight.denominator })
}

fn list<'a>(object: &'a Map<String, Value>, name: &str) -> Result<&'a [Value], NetworkJsonError> {
    let place = || format!("net.{name}");
    let value = object.get(name).ok_or_else(|| problem(place(), "missing"))?;
    value.as_array().map(Vec::as_slice).ok_or_else(|| problem(place(), "not a list"))
}

/// Refuses fields that mean nothing.
fn only(object: &Map<String, Value>, known: &[&str], place: &str) -> Result<(), NetworkJsonError> {
    match object.keys().find(|name| !known.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) => {
            Err(problem(place, format!("unknown field `{}`; there are: {}", short(name), known.join(", "))))
        }
    }
}

/// What was given, cut off where it is long.
fn short(given: &str) -> String {
    given.chars().take(40).collect()
}

fn object<'a>(value: &'a Value, place: &str) -> Result<&'a Map<String, Value>, NetworkJsonError> {
    value
        .as_object()
        .ok_or_else(|| problem(place, format!("{}; it must be an object", short(&value.to_string()))))
}

/// The number of inputs or outputs, which are numbered from `first` on.
fn ends(object: &Map<String, Value>, name: &str, first: usize) -> Result<usize, NetworkJsonError> {
    let listed = list(object, name)?;
    for (i, id) in listed.iter().enumerate() {
        let expected = first + i;
        if id.as_u64() != Some(expected as u64) {
            let allowed = format!("{id} where {expected} is due: inputs are the first units, outputs follow");
            return Err(problem(format!("net.{name}[{i}]"), allowed));
        }
    }
    Ok(listed.len())
}

fn units(listed: &[Value]) -> Result<Vec<NetworkUnit>, NetworkJsonError> {
    if listed.len() > MAX_UNITS {
        return Err(NetworkError::Units(listed.len()).into());
    }
    let mut units: Vec<Option<NetworkUnit>> = vec![None; listed.len()];
    for (i, value) in listed.iter().enumerate() {
        let place = format!("net.units[{i}]");
        let id = match value.get("id") {
            None => i,
            Some(id) => number(id, &format!("{place}.id"))? as usize,
        };
        let slot = units.get_mut(id).ok_or_else(|| {
            problem(format!("{place}.id"), format!("{id}, but the units are 0 to {}", listed.len() - 1))
        })?;
        if slot.is_some() {
            return Err(problem(format!("{place}.id"), format!("unit {id} is there twice")));
        }
        *slot = Some(unit_of(value, &place)?);
    }
    Ok(units.into_iter().flatten().collect())
}

/// The fields of a weight; the long names are those of other writers.
const WEIGHT: [&str; 5] = ["sign", "num", "den", "numerator", "denominator"];

fn unit_of(value: &Value, place: &str) -> Result<NetworkUnit, NetworkJsonError> {
    only(object(value, place)?, &["id", "activation", "activation_id", "type", "bias"], place)?;
    let kind = match value.get("type") {
        None => UnitKind::Sum,
        Some(given) => match given.as_str() {
            Some("sum" | "summation") => UnitKind::Sum,
            Some("product" | "multiplication") => UnitKind::Product,
            _ => {
                let given = short(&given.to_string());
                return Err(problem(
                    format!("{place}.type"),
                    format!("{given}; it is \"sum\" or \"product\""),
                ));
            }
        },
    };
    let bias = match value.get("bias") {
        None | Some(Value::Null) => None,
        Some(bias) => {
            let place = format!("{place}.bias");
            only(object(bias, &place)?, &WEIGHT, &place)?;
            Some(weight_of(bias, &place)?)
        }
    };
    Ok(NetworkUnit { activation: activation_of(value, place)?, kind, bias })
}

fn activation_of(value: &Value, place: &str) -> Result<UnitActivation, NetworkJsonError> {
    let names = || UnitActivation::ALL.map(UnitActivation::name).join(", ");
    let by_name = match value.get("activation") {
        None | Some(Value::Null) => None,
        Some(Value::String(name)) => Some(UnitActivation::named(name).ok_or_else(|| {
            problem(
                format!("{place}.activation"),
                format!("unknown activation `{name}`; there are: {}", names()),
            )
        })?),
        Some(id) => Some(activation_with_id(id, &format!("{place}.activation"))?),
    };
    let by_id = match value.get("activation_id") {
        None | Some(Value::Null) => None,
        Some(id) => Some(activation_with_id(id, &format!("{place}.activation_id"))?),
    };
    match (by_name, by_id) {
        (Some(a), Some(b)) if a != b => Err(problem(
            format!("{place}.activation_id"),
            format!("{} is {}, but the activation is {}", b.id(), b.name(), a.name()),
        )),
        (Some(activation), _) | (None, Some(activation)) => Ok(activation),
        (None, None) => Err(problem(format!("{place}.activation"), "missing")),
    }
}

fn activation_with_id(id: &Value, place: &str) -> Result<UnitActivation, NetworkJsonError> {
    let known = number(id, place)?;
    let found = UnitActivation::ALL.get(known as usize).copied();
    found.ok_or_else(|| problem(place, format!("{known}; the numbers of activations are 0 to 14")))
}

fn edge_of(
    value: &Value,
    recurrent: bool,
    units: usize,
    place: &str,
) -> Result<NetworkEdge, NetworkJsonError> {
    let [sign, num, den, numerator, denominator] = WEIGHT;
    only(object(value, place)?, &["src", "dst", sign, num, den, numerator, denominator], place)?;
    let end = |name: &str| {
        let place = format!("{place}.{name}");
        let id = number(value.get(name).ok_or_else(|| problem(&place, "missing"))?, &place)?;
        let known = usize::try_from(id).is_ok_and(|id| id < units);
        if !known {
            return Err(problem(place, format!("{id}, but the units are 0 to {}", units.saturating_sub(1))));
        }
        Ok(id as u16)
    };
    Ok(NetworkEdge { recurrent, source: end("src")?, target: end("dst")?, weight: weight_of(value, place)? })
}

fn weight_of(value: &Value, place: &str) -> Result<RationalWeight, NetworkJsonError> {
    let field = |short: &str, long: &str| {
        let place = format!("{place}.{short}");
        let found = value.get(short).or_else(|| value.get(long)).ok_or_else(|| problem(&place, "missing"))?;
        Ok::<_, NetworkJsonError>((found, place))
    };
    let (sign, at) = field("sign", "sign")?;
    let negative = match sign.as_f64() {
        Some(1.0) => false,
        Some(-1.0) => true,
        _ => return Err(problem(at, format!("{sign}; it is 1 or -1"))),
    };
    let (numerator, at) = field("num", "numerator")?;
    let numerator = number(numerator, &at)?;
    let (denominator, at) = field("den", "denominator")?;
    let denominator = number(denominator, &at)?;
    if denominator == 0 {
        return Err(problem(at, "0; a denominator is at least 1"));
    }
    Ok(RationalWeight { negative, numerator, denominator })
}

/// A whole number; files from elsewhere may write 3.0.
fn number(value: &Value, place: &str) -> Result<u32, NetworkJsonError> {
    let whole = value.as_f64().filter(|x| x.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(x));
    whole.map(|x| x as u32).ok_or_else(|| {
        problem(
            place,
            format!("{}; it must be a whole number from 0 to {}", short(&value.to_string()), u32::MAX),
        )
    })
}
