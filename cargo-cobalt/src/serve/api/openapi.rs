//! `/api`, `/api/health` and `/api/openapi.json`, and the list of all endpoints: their routes, and their OpenAPI description, which
//! is generated from the query and response types.

use std::sync::Arc;

use axum::extract::State;
use axum::routing::get;
use axum::{Json, Router};
use cobalt_core::report::ranking::Ranking;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde_json::{Value, json};

use super::compare::{self, CompareQuery, ComparedRuns};
use super::events;
use super::experiments::{self, Experiments};
use super::export::{self, ExportQuery};
use super::items::{self, Items, ItemsQuery, WholeItem};
use super::matrix::{self, Matrix, MatrixQuery};
use super::media::{self, MediaQuery};
use super::ranking::{self, RankingQuery, VariantGroup};
use super::run::{self, Overview, WholeRun};
use super::runs::{self, Runs, RunsQuery};
use super::trends::{self, Trends, TrendsQuery};
use crate::serve::error::{ApiError, ErrorBody};
use crate::serve::job::Job;
use crate::serve::live::ServerEvent;
use crate::serve::store::{RemoteState, Store};
use crate::serve::writes::{
    DeleteRuns, DeletedRuns, JobList, JobQuery, JobWithOutput, LabelledRun, LabelsChange, SaveBaseline,
    SavedRun, Session, StartJob, StopJob,
};

/// The routes below `/api`: those that read, and these `writes`.
pub fn routes(store: Arc<Store>, writes: Router) -> Router {
    Router::new()
        .route("/", get(index))
        .route("/health", get(health))
        .route("/openapi.json", get(openapi))
        .route("/runs", get(runs::runs))
        .route("/runs/{id}", get(run::run))
        .route("/runs/{id}/overview", get(run::overview))
        .route("/runs/{id}/items", get(items::items))
        .route("/runs/{id}/items/{key}", get(items::item))
        .route("/runs/{id}/items/{key}/media", get(media::media))
        .route("/experiments", get(experiments::experiments))
        .route("/compare", get(compare::compare))
        .route("/ranking", get(ranking::ranking))
        .route("/groups/{group}", get(ranking::group))
        .route("/matrix", get(matrix::matrix))
        .route("/trends", get(trends::trends))
        .route("/export", get(export::export))
        .route("/events", get(events::events))
        .with_state(store)
        .merge(writes)
        .fallback(endpoint_not_found)
        .method_not_allowed_fallback(|| async { ApiError::method_not_allowed() })
}

/// The response to an unknown path below `/api`.
pub async fn endpoint_not_found() -> ApiError {
    ApiError::not_found("no such endpoint; `/api` lists all endpoints")
}

/// Server information.
#[derive(Debug, Serialize, JsonSchema)]
struct Index {
    name: &'static str,
    /// The version of the command.
    version: &'static str,
    /// The name of the project's folder.
    project: String,
    /// The remote store whose runs are served instead of those of the server's machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    remote: Option<RemoteState>,
    /// All endpoints.
    endpoints: Vec<&'static str>,
}

/// The health check.
#[derive(Debug, Serialize, JsonSchema)]
struct Health {
    /// `ok`
    status: &'static str,
    /// The version of the command.
    version: &'static str,
    /// A hash of the project's location, by which its commands recognize its server.
    project: String,
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

async fn index(State(store): State<Arc<Store>>) -> Json<Index> {
    let remote = store.team().map(|team| team.state());
    Json(Index {
        name: "Cobalt",
        version: VERSION,
        project: store.project_name(),
        remote,
        endpoints: paths(),
    })
}

async fn health(State(store): State<Arc<Store>>) -> Json<Health> {
    Json(Health { status: "ok", version: VERSION, project: store.project_hash() })
}

async fn openapi() -> Json<Value> {
    Json(description())
}

type MakeSchema = fn(&mut SchemaGenerator) -> Schema;

/// An endpoint of the description.
struct Endpoint {
    method: &'static str,
    path: &'static str,
    name: &'static str,
    summary: &'static str,
    /// The parameters after the `?`.
    query: Option<MakeSchema>,
    /// The JSON body.
    body: Option<MakeSchema>,
    response: MakeSchema,
    media_type: &'static str,
}

const JSON: &str = "application/json";

fn schema<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// The inlined schema of parameters.
fn parameters<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    T::json_schema(generator)
}

/// The endpoints that read.
fn endpoints() -> [Endpoint; 18] {
    let json = |path, name, summary, query, answer| Endpoint {
        method: "get",
        path,
        name,
        summary,
        query,
        body: None,
        response: answer,
        media_type: JSON,
    };
    [
        json("/api", "index", "Server information", None, schema::<Index>),
        json("/api/health", "health", "Health check", None, schema::<Health>),
        json("/api/openapi.json", "openapi", "This OpenAPI description", None, schema::<Value>),
        json("/api/experiments", "experiments", "The experiments", None, schema::<Experiments>),
        json("/api/runs", "runs", "The runs", Some(parameters::<RunsQuery>), schema::<Runs>),
        json("/api/runs/{id}", "run", "A run with all of its items", None, schema::<WholeRun>),
        json("/api/runs/{id}/overview", "overview", "A run without its items", None, schema::<Overview>),
        json(
            "/api/runs/{id}/items",
            "items",
            "The items of a run",
            Some(parameters::<ItemsQuery>),
            schema::<Items>,
        ),
        json(
            "/api/runs/{id}/items/{key}",
            "item",
            "An item of a run, with the previous and next matching items",
            Some(parameters::<ItemsQuery>),
            schema::<WholeItem>,
        ),
        json(
            "/api/compare",
            "compare",
            "A comparison of two to eight runs",
            Some(parameters::<CompareQuery>),
            schema::<ComparedRuns>,
        ),
        json(
            "/api/ranking",
            "ranking",
            "A ranking of two to eight runs",
            Some(parameters::<RankingQuery>),
            schema::<Ranking>,
        ),
        json(
            "/api/groups/{group}",
            "group",
            "The variants that were run together, ranked",
            None,
            schema::<VariantGroup>,
        ),
        json(
            "/api/matrix",
            "matrix",
            "The items of several runs side by side",
            Some(parameters::<MatrixQuery>),
            schema::<Matrix>,
        ),
        json(
            "/api/trends",
            "trends",
            "The whole runs of an experiment, oldest first",
            Some(parameters::<TrendsQuery>),
            schema::<Trends>,
        ),
        json("/api/session", "session", "What the client may do", None, schema::<Session>),
        json("/api/jobs", "jobs", "The latest jobs of this server", None, schema::<JobList>),
        json(
            "/api/jobs/{id}",
            "job",
            "A job and its output",
            Some(parameters::<JobQuery>),
            schema::<JobWithOutput>,
        ),
        Endpoint {
            media_type: "text/event-stream",
            ..json("/api/events", "events", "Server-sent events", None, schema::<ServerEvent>)
        },
    ]
}

/// The endpoints that change things. The [guard](crate::serve::guard) protects them.
fn write_endpoints() -> [Endpoint; 5] {
    let post = |path, name, summary, body, response| Endpoint {
        method: "post",
        path,
        name,
        summary,
        query: None,
        body: Some(body),
        response,
        media_type: JSON,
    };
    [
        Endpoint {
            method: "patch",
            ..post(
                "/api/runs/{id}",
                "updateRun",
                "Change the name, note or tags of a run",
                parameters::<LabelsChange>,
                schema::<LabelledRun>,
            )
        },
        post(
            "/api/runs/{id}/baseline",
            "saveBaseline",
            "Save a run as the baseline of its experiment",
            parameters::<SaveBaseline>,
            schema::<SavedRun>,
        ),
        post(
            "/api/runs/delete",
            "deleteRuns",
            "Delete runs, or say what that would free",
            parameters::<DeleteRuns>,
            schema::<DeletedRuns>,
        ),
        post("/api/jobs", "startJob", "Start a job", parameters::<StartJob>, schema::<Job>),
        post("/api/jobs/{id}/stop", "stopJob", "Stop a job", parameters::<StopJob>, schema::<Job>),
    ]
}

/// The paths of the endpoints.
pub fn paths() -> Vec<&'static str> {
    let mut paths: Vec<_> = endpoints().map(|endpoint| endpoint.path).into_iter().collect();
    paths.extend(file_endpoints().map(|endpoint| endpoint.path));
    for Endpoint { path, .. } in write_endpoints() {
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}

/// The endpoints whose responses are files.
fn file_endpoints() -> [Endpoint; 2] {
    let file = |path, name, summary, query| Endpoint {
        method: "get",
        path,
        name,
        summary,
        query: Some(query),
        body: None,
        response: schema::<String>,
        media_type: "*/*",
    };
    [
        file(
            "/api/runs/{id}/items/{key}/media",
            "media",
            "An image or a recording in the project's folder that an item names",
            parameters::<MediaQuery>,
        ),
        file("/api/export", "export", "A run in another format, as a download", parameters::<ExportQuery>),
    ]
}

/// Generates the schemas of responses; named types become components.
fn response_generator() -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12().for_serialize().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    settings.into_generator()
}

/// Generates the schemas of parameters, fully inlined.
fn parameter_generator() -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12().for_deserialize().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    settings.into_generator()
}

/// The OpenAPI 3.1 description of the API.
pub fn description() -> Value {
    let mut generator = response_generator();
    let problem = schema::<ErrorBody>(&mut generator);
    let mut paths = serde_json::Map::new();
    let mut add = |endpoint: &Endpoint, content| {
        let operations = paths.entry(endpoint.path).or_insert_with(|| json!({}));
        operations[endpoint.method] = operation(endpoint, content, &problem);
    };
    for endpoint in endpoints().iter().chain(&write_endpoints()) {
        let answer = (endpoint.response)(&mut generator);
        add(endpoint, json!({ endpoint.media_type: { "schema": answer } }));
    }
    for endpoint in file_endpoints() {
        add(&endpoint, json!({ endpoint.media_type: {} }));
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Cobalt",
            "description": "The runs of a project, served by `cargo cobalt serve`.",
            "version": VERSION,
        },
        "paths": paths,
        "components": { "schemas": generator.take_definitions(true) },
    })
}

fn operation(endpoint: &Endpoint, content: Value, problem: &Schema) -> Value {
    let query = endpoint.query.map(|query| query(&mut parameter_generator()));
    let in_path = endpoint.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let in_path = in_path
        .map(|name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }));
    let parameters: Vec<_> = in_path.chain(query.iter().flat_map(query_parameters)).collect();
    let mut operation = json!({
        "operationId": endpoint.name,
        "summary": endpoint.summary,
        "parameters": parameters,
        "responses": {
            "200": { "description": endpoint.summary, "content": content },
            "default": {
                "description": "Error",
                "content": { JSON: { "schema": problem } },
            },
        },
    });
    if let Some(body) = endpoint.body {
        let schema = body(&mut parameter_generator());
        operation["requestBody"] = json!({ "required": true, "content": { JSON: { "schema": schema } } });
    }
    operation
}

/// The fields of a schema as query parameters.
fn query_parameters(schema: &Schema) -> Vec<Value> {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let parameter = |(name, schema): (&String, &Value)| {
        let description = schema.get("description").cloned();
        let mut schema = strip_null(schema.clone());
        schema.as_object_mut().and_then(|schema| schema.remove("description"));
        json!({
            "name": name,
            "in": "query",
            "required": required.contains(&&**name),
            "description": description,
            "schema": schema,
        })
    };
    properties.map(parameter).collect()
}

/// A schema without null for optional fields: a query parameter cannot be null.
fn strip_null(mut schema: Value) -> Value {
    let is_null = |option: &Value| option["type"] == "null" || option == "null";
    if let Some(options) = schema.get_mut("anyOf").and_then(Value::as_array_mut) {
        options.retain(|option| !is_null(option));
        if let [only] = &mut **options {
            return std::mem::take(only);
        }
    }
    if let Some(types) = schema.get_mut("type").filter(|types| types.is_array()) {
        let mut named = types.as_array().cloned().unwrap_or_default();
        named.retain(|name| !is_null(name));
        *types = named.swap_remove(0);
    }
    if schema.get("default").is_some_and(Value::is_null) {
        schema.as_object_mut().and_then(|schema| schema.remove("default"));
    }
    schema
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::description;

    #[test]
    fn the_description_in_the_repository_is_that_of_the_types() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("dashboard").join("openapi.json");
        let kept = fs::read_to_string(path).unwrap();
        let made = serde_json::to_string_pretty(&description()).unwrap() + "\n";
        assert!(
            kept == made,
            "the API has changed; update its description with `cargo cobalt serve --openapi > dashboard/openapi.json` and the \
             page's types with `npm run types`, and commit both"
        );
    }
}
