//! The table of controllers.

use crate::{controllers, pin, registration};
use serde_json::json;
use std::fmt::Write as _;

/// Who has a controller registered.
fn registrar(name: &str) -> Option<&'static str> {
    if pin::path(name).exists() {
        Some("pinned")
    } else if registration::link_id(name).is_some() {
        Some("held")
    } else if registration::available().iter().any(|available| available == name) {
        // Without the right to look at links this is all that can be said.
        Some("other")
    } else {
        None
    }
}

/// One line, or one JSON object, per controller.
pub(crate) fn report(json: bool) -> String {
    if json {
        let rows: Vec<_> = controllers::ALL
            .iter()
            .map(|controller| {
                let by = registrar(controller.name);
                json!({
                    "name": controller.name,
                    "summary": controller.summary,
                    "compiled": controller.object.is_some(),
                    "registered": by.is_some(),
                    "by": by,
                })
            })
            .collect();
        return format!("{:#}\n", json!(rows));
    }
    controllers::ALL.iter().fold(String::new(), |mut text, controller| {
        let state = match registrar(controller.name) {
            Some("pinned") => "registered (load)",
            Some("held") => "registered (held by a run)",
            Some(_) => "registered (by another)",
            None if controller.object.is_none() => "built without clang",
            None => "not registered",
        };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{:<17}{state:<28}{}", controller.name, controller.summary);
        text
    })
}
