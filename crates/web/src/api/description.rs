//! The OpenAPI description, made from the types that are sent.

use axum::response::{IntoResponse, Response};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::messages::{
    AnalysisOut, AskIn, AskOut, FaultOut, MetricsIn, MetricsOut, SeriesList, StudyList,
    StudySummary, TellIn, TellOut, TokenOut, TrialPage, TrialSummary,
};

/// Serves the description.
pub(super) async fn served() -> Response {
    axum::Json(openapi()).into_response()
}

/// The OpenAPI description of `/api/v1`.
pub fn openapi() -> Value {
    let mut generator = SchemaSettings::openapi3().into_generator();
    let mut paths = Map::new();
    for call in calls(&mut generator) {
        let path = paths.entry(call.path).or_insert_with(|| json!({}));
        path[call.method] = call.described;
    }
    let fault = generator.subschema_for::<FaultOut>();
    let schemas: Map<String, Value> = generator.take_definitions(true).into_iter().collect();
    json!({
        "openapi": "3.0.3",
        "info": {
            "title": "Trainwright",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Studies, trials, series and analysis; asking and telling where the server lets programs act.",
        },
        "servers": [{ "url": "/api/v1" }],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "responses": {
                "fault": {
                    "description": "Why there is no answer",
                    "content": { "application/json": { "schema": fault } },
                },
            },
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
        },
        "security": [{ "token": [] }, {}],
    })
}

struct Call {
    path: &'static str,
    method: &'static str,
    described: Value,
}

fn calls(generator: &mut SchemaGenerator) -> Vec<Call> {
    let g = generator;
    vec![
        read::<StudyList>(g, "/studies", "All studies", &[]),
        read::<StudySummary>(g, "/studies/{study}", "One study", &[]),
        read::<TrialPage>(
            g,
            "/studies/{study}/trials",
            "Trials that an expression chooses, sorted by a column",
            &["filter", "sort", "order", "from", "count"],
        ),
        read::<TrialSummary>(g, "/studies/{study}/trials/{number}", "One trial", &[]),
        read::<SeriesList>(
            g,
            "/studies/{study}/trials/{number}/series",
            "Learning curves and telemetry of a trial",
            &[],
        ),
        read::<AnalysisOut>(g, "/studies/{study}/analysis", "What the measurements say", &[]),
        write::<AskIn, AskOut>(g, "/studies/{study}/ask", "Which trials to run next"),
        write::<TellIn, TellOut>(g, "/studies/{study}/tell", "What came of a trial"),
        write::<MetricsIn, MetricsOut>(
            g,
            "/studies/{study}/trials/{number}/metrics",
            "Metrics of a running trial; the token is that of the trial",
        ),
        write::<(), TokenOut>(
            g,
            "/studies/{study}/trials/{number}/token",
            "The token of a trial, for those who may act",
        ),
    ]
}

fn read<Reply: JsonSchema>(
    generator: &mut SchemaGenerator,
    path: &'static str,
    summary: &str,
    query: &[&str],
) -> Call {
    let mut described = described::<Reply>(generator, path, summary);
    if let Some(parameters) = described["parameters"].as_array_mut() {
        parameters.extend(query.iter().map(|name| {
            let kind = if ["from", "count"].contains(name) { "integer" } else { "string" };
            json!({ "name": name, "in": "query", "schema": { "type": kind } })
        }));
    }
    Call { path, method: "get", described }
}

fn write<Sent: JsonSchema, Reply: JsonSchema>(
    generator: &mut SchemaGenerator,
    path: &'static str,
    summary: &str,
) -> Call {
    let mut described = described::<Reply>(generator, path, summary);
    if std::any::type_name::<Sent>() != "()" {
        let schema = generator.subschema_for::<Sent>();
        described["requestBody"] = json!({
            "required": true,
            "content": { "application/json": { "schema": schema } },
        });
    }
    Call { path, method: "post", described }
}

fn described<Reply: JsonSchema>(
    generator: &mut SchemaGenerator,
    path: &str,
    summary: &str,
) -> Value {
    let schema = generator.subschema_for::<Reply>();
    let parameters: Vec<Value> = [("study", "string"), ("number", "integer")]
        .into_iter()
        .filter(|(name, _)| path.contains(&format!("{{{name}}}")))
        .map(|(name, kind)| {
            json!({ "name": name, "in": "path", "required": true, "schema": { "type": kind } })
        })
        .collect();
    json!({
        "summary": summary,
        "parameters": parameters,
        "responses": {
            "200": {
                "description": summary,
                "content": { "application/json": { "schema": schema } },
            },
            "default": { "$ref": "#/components/responses/fault" },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reference_of_the_description_leads_somewhere() {
        let own = openapi();
        let mut left = vec![&own];
        let mut references = 0;
        while let Some(value) = left.pop() {
            if let Some(path) = value.get("$ref").and_then(Value::as_str) {
                let path = path.strip_prefix('#').unwrap();
                assert!(own.pointer(path).is_some(), "{path}");
                references += 1;
            }
            match value {
                Value::Object(fields) => left.extend(fields.values()),
                Value::Array(items) => left.extend(items),
                _ => {}
            }
        }
        assert!(references > 15, "{references}");
        assert_eq!(own["paths"].as_object().unwrap().len(), 10);
    }
}
