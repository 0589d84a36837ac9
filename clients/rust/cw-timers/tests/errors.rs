//! The crate's errors against `x/timers/types/errors.go`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use cw_timers::TimersError;

/// The errors that the file registers: name without `Err`, code and description.
fn registered() -> BTreeMap<u32, (String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../x/timers/types/errors.go");
    let text = fs::read_to_string(path).unwrap();
    let mut out = BTreeMap::new();
    for line in text.lines() {
        let Some((name, rest)) = line.trim().split_once(" = errors.Register(ModuleName, ") else { continue };
        let (code, rest) = rest.split_once(", \"").unwrap();
        let description = rest.strip_suffix("\")").unwrap();
        let name = name.strip_prefix("Err").unwrap();
        out.insert(code.parse().unwrap(), (name.to_string(), description.to_string()));
    }
    assert_eq!(out.len(), text.matches("errors.Register(").count(), "every registration is read");
    out
}

#[test]
fn errors_are_those_of_the_chain() {
    let crate_: BTreeMap<u32, (String, String)> =
        TimersError::ALL.iter().map(|e| (e.code(), (format!("{e:?}"), e.description().to_string()))).collect();
    assert_eq!(crate_.len(), TimersError::ALL.len(), "codes differ");
    assert_eq!(crate_, registered());
}

#[test]
fn codes_and_texts_lead_back() {
    for error in TimersError::ALL {
        assert_eq!(TimersError::from_code(error.code()), Some(*error));
        assert_eq!(TimersError::parse(&error.to_string()), Some(*error));
        assert_eq!(TimersError::parse(&format!("codespace: timers, code: {}", error.code())), Some(*error));
    }
    assert_eq!(TimersError::from_code(1), None);
    for text in
        ["", "codespace: timers, code: ", "codespace: timers, code: 99999999999", "codespace: wasm, code: 5", "code: 9"]
    {
        assert_eq!(TimersError::parse(text), None, "{text}");
    }
}
