//! What every suite must have.

use std::collections::BTreeMap;

use super::*;

#[test]
fn names_are_unique_and_found() {
    for suite in SUITES {
        assert_eq!(named(suite.name()).map(Suite::name), Some(suite.name()));
    }
    for format in Format::ALL {
        assert_eq!(Format::named(format.name()), Some(format));
    }
}

#[test]
fn a_member_belongs_to_one_suite() {
    for suite in SUITES {
        for member in suite.published_members().iter().map(String::as_str).chain(suite.members()) {
            let owners: Vec<&str> = SUITES.iter().filter(|s| s.contains(member)).map(|s| s.name()).collect();
            assert_eq!(owners, [suite.name()], "{member}");
        }
    }
}

#[test]
fn published_members_can_be_planned_with_defaults() {
    let none = BTreeMap::new();
    for suite in SUITES {
        let options = Options::new(*suite, &none);
        assert!(!suite.members().is_empty() && options.check_names().is_ok());
        for member in suite.published_members() {
            for reading in Reading::ALL {
                assert!(suite.plan(&member, reading, &options).is_ok(), "{} {member}", suite.name());
            }
        }
    }
}

#[test]
fn formats_are_listed_and_jsonl_is_common() {
    for suite in SUITES {
        assert!(suite.about().formats.contains(&JSONL));
        let members = suite.members();
        for member in members.iter().map(|member| Some(*member)).chain([None]) {
            let formats = suite.formats_of(member);
            assert!(
                !formats.is_empty() && formats.iter().all(|format| suite.about().formats.contains(format))
            );
        }
        assert!(suite.about().formats.iter().all(|format| Format::ALL.contains(format)), "{}", suite.name());
    }
}

#[test]
fn bad_options_are_named() {
    let error = |suite: &str, member: &str, key: &str, value: &str| {
        let given = BTreeMap::from([(key.to_owned(), value.to_owned())]);
        let suite = named(suite).unwrap();
        let options = Options::new(suite, &given);
        let planned = suite.plan(member, Reading::Corrected, &options).and_then(|_| options.check_names());
        planned.unwrap_err().to_string()
    };
    assert_eq!(
        error("flare", "parity", "test.size", "x"),
        "`test.size` cannot be `x`; it must be a count such as 1000"
    );
    assert_eq!(
        error("tse", "nested", "lengths", "9..3"),
        "`lengths` cannot be `9..3`; it must be a range such as 0..40, the first not above the second, up to 1000000"
    );
    assert_eq!(
        error("bliss", "an-bn", "sizes", "100,0"),
        "`sizes` cannot be `100,0`; it must be counts such as 100,250"
    );
    assert_eq!(
        error("bliss", "an-bn", "sizes", "100,49"),
        "`sizes` cannot be `49`; it must be counts from 50 to 1000000, as 100,250,500,1000"
    );
    assert_eq!(
        error("bliss", "an-bn", "tests", "some"),
        "`tests` cannot be `some`; it must be `described` or `stored`"
    );
    assert_eq!(error("wade", "qa", "m", "3"), "`wade` has no option `m`; it has: n");
    assert_eq!(error("find", "scan", "m", "3"), "`find` has no option `m`; it has: none");
}
