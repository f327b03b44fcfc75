//! `config/instances` and what `docs/deployment.md` says about several instances: the settings in
//! the files are accepted, what they refer to is there, and the commands that Redis's user may
//! send are those of the page.

use serde_json::{Value, json};

use crate::support::service::Setup;
use crate::support::yaml;

use super::pages::page;

const IMAGE: &str = include_str!("../../packaging/image/Dockerfile");
const COMPOSE: &str = include_str!("../../config/instances/compose.yaml");
const KUBERNETES: &str = include_str!("../../config/instances/kubernetes.yaml");
const KUSTOMIZATION: &str = include_str!("../../config/instances/kustomization.yaml");
const SETTINGS: &str = include_str!("../../config/instances/settings.toml");
const UNIT: &str = include_str!("../../packaging/systemd/frontend-map.service");

fn compose() -> Value {
    let [compose] = &yaml::documents(COMPOSE)[..] else { panic!("one document") };
    compose.clone()
}

/// The object of this kind with this name.
fn object(kind: &str, name: &str) -> Value {
    let objects = yaml::documents(KUBERNETES);
    let is_it = |object: &&Value| object["kind"] == kind && object["metadata"]["name"] == name;
    objects.iter().find(is_it).unwrap_or_else(|| panic!("no {kind} {name}")).clone()
}

/// The pod and its one container.
fn pod(deployment: &str) -> (Value, Value) {
    let template = object("Deployment", deployment)["spec"]["template"].take();
    let containers = template["spec"]["containers"].as_array().expect("containers");
    let [container] = &containers[..] else { panic!("one container") };
    (template.clone(), container.clone())
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is not a text"))
}

/// The values below `key`, at any depth.
fn values<'a>(value: &'a Value, key: &str, found: &mut Vec<&'a Value>) {
    match value {
        Value::Array(list) => list.iter().for_each(|value| values(value, key, found)),
        Value::Object(members) => {
            found.extend(members.get(key));
            members.values().for_each(|value| values(value, key, found));
        }
        _ => {}
    }
}

/// `check` of the settings, with content from a file and the variables of a container.
fn assert_accepted<'a>(settings: &str, variables: impl Iterator<Item = &'a str>) {
    let key = "/run/secrets/frontend-map/seal-key";
    let cms = "[cms]\nsource = \"files\"\npath = \"content.json\"";
    let settings = settings.replace(key, "seal-key").replace("[cms]", cms);
    let setup = Setup::new(&settings).file("content.json", r#"{"api::article.article": []}"#);
    let setup = setup.file("seal-key", "0123456789abcdef0123456789abcdef");
    let setup = variables.fold(setup, |setup, name| match name {
        "FRONTEND_MAP_CONFIG" => setup,
        "MIMALLOC_ALLOW_THP" => setup.env(name, "0"),
        "FRONT_END_URL_MAIN" => setup.env(name, "https://www.example.com"),
        "FRONTEND_MAP__SERVER__ADMIN_LISTEN" => setup.env(name, "0.0.0.0:9090"),
        _ => setup.env(name, "0123456789abcdef0123456789abcdef"),
    });
    let ended = setup.run(&["check", "--strict", "--offline"]);
    assert_eq!((ended.status, ended.stderr.as_str()), (Some(0), ""), "{}", ended.stdout);
}

#[test]
fn settings_of_compose_are_accepted() {
    let compose = compose();
    let service = &compose["services"]["frontend-map"];
    let variables = service["environment"].as_object().expect("variables");
    let settings = text(&compose["configs"]["settings"]["content"]);
    assert!(settings.contains("[shared]"));
    assert_accepted(settings, variables.keys().map(String::as_str));
}

#[test]
fn settings_of_kubernetes_are_accepted() {
    let (_, container) = pod("frontend-map");
    let variables = list(&container["env"]).iter().map(|variable| text(&variable["name"]));
    assert_accepted(SETTINGS, variables);
}

#[test]
fn compose_uses_the_configs_and_services_that_it_has() {
    let compose = compose();
    let services = compose["services"].as_object().expect("services");
    let mut sources = Vec::new();
    values(&compose, "source", &mut sources);
    assert_eq!(sources.len(), 2);
    for source in sources {
        assert!(compose["configs"][text(source)]["content"].is_string(), "{source}");
    }
    // The hosts in URLs and in the balancer's settings.
    for host in ["strapi:1337", "redis:6379", "balancer:8080", "frontend-map:8080"] {
        assert!(COMPOSE.contains(host), "{host}");
        assert!(services.contains_key(host.split(':').next().expect("a name")), "{host}");
    }
    let service = &services["frontend-map"];
    assert_eq!(service["deploy"]["replicas"], 2);
    let balancer = text(&compose["configs"]["balancer"]["content"]);
    assert!(balancer.contains("server-template instance 2 frontend-map:8080 check"), "{balancer}");
    assert_eq!(service["stop_grace_period"], "35s");
}

#[test]
fn kubernetes_refers_to_objects_and_ports_that_it_has() {
    for (name, replicas) in [("frontend-map", 3), ("frontend-map-redis", 1)] {
        let deployment = object("Deployment", name);
        let (template, container) = pod(name);
        assert_eq!(deployment["spec"]["replicas"], replicas);
        let labels = &template["metadata"]["labels"];
        assert_eq!(&deployment["spec"]["selector"]["matchLabels"], labels);
        let service = object("Service", name);
        assert_eq!(&service["spec"]["selector"], labels);
        let ports: Vec<&Value> = list(&container["ports"]).iter().map(|p| &p["name"]).collect();
        let mut used = Vec::new();
        values(&service, "targetPort", &mut used);
        for probe in ["startupProbe", "readinessProbe", "livenessProbe"] {
            values(&container[probe], "port", &mut used);
        }
        assert!(used.len() >= 2 && used.iter().all(|port| ports.contains(port)), "{used:?}");
        let mounts = container["volumeMounts"].as_array().cloned().unwrap_or_default();
        let volumes = template["spec"]["volumes"].as_array().cloned().unwrap_or_default();
        let names =
            |list: &[Value]| list.iter().map(|item| item["name"].clone()).collect::<Vec<_>>();
        assert_eq!(names(&mounts), names(&volumes));
    }
    let (template, container) = pod("frontend-map");
    assert_eq!(container["readinessProbe"]["httpGet"]["path"], "/readyz");
    assert_eq!(container["livenessProbe"]["httpGet"]["path"], "/livez");
    assert_eq!(container["startupProbe"]["httpGet"]["path"], "/livez");
    assert!(template["spec"]["terminationGracePeriodSeconds"].as_i64() >= Some(30));
    let image = "CMD [\"--config\", \"/etc/frontend-map/settings.toml\", \"serve\"]";
    for file in [include_str!("../../Dockerfile"), IMAGE] {
        assert!(file.contains(image), "{file}");
    }
    let [kustomization] = &yaml::documents(KUSTOMIZATION)[..] else { panic!("one document") };
    let map = &kustomization["configMapGenerator"][0];
    assert_eq!(map["name"], template["spec"]["volumes"][0]["configMap"]["name"]);
    assert_eq!(map["files"], json!(["settings.toml"]));
    let image = &kustomization["images"][0];
    assert_eq!(image["name"], container["image"]);
    assert_eq!(image["newTag"], env!("CARGO_PKG_VERSION"));
    let tag = concat!("frontend-map:", env!("CARGO_PKG_VERSION"), "}");
    assert!(text(&compose()["services"]["frontend-map"]["image"]).ends_with(tag));
    let mut keys = Vec::new();
    for (template, _) in [pod("frontend-map"), pod("frontend-map-redis")] {
        let template = template.to_string();
        let parsed: Value = serde_json::from_str(&template).expect("JSON");
        let mut found = Vec::new();
        values(&parsed, "key", &mut found);
        keys.extend(found.into_iter().map(|key| text(key).to_owned()));
    }
    assert!(keys.len() >= 5, "{keys:?}");
    for key in keys {
        // The command that makes the secret is in the comment at the top.
        assert!(KUSTOMIZATION.contains(&format!("--from-literal={key}=")), "{key}");
    }
}

#[test]
fn kubernetes_admits_only_prometheus_to_the_admin_port() {
    let policy = object("NetworkPolicy", "frontend-map");
    assert_eq!(policy["spec"]["podSelector"]["matchLabels"]["app"], "frontend-map");
    let rules = list(&policy["spec"]["ingress"]);
    let to = |port: u64| {
        let has = |rule: &&Value| list(&rule["ports"]).iter().any(|one| one["port"] == port);
        rules.iter().filter(has).collect::<Vec<_>>()
    };
    assert!(to(8080).iter().all(|rule| rule["from"].is_null()), "{policy}");
    let [admin] = to(9090)[..] else { panic!("one rule: {policy}") };
    let namespace = &admin["from"][0]["namespaceSelector"]["matchLabels"];
    assert_eq!(namespace["kubernetes.io/metadata.name"], "monitoring");
}

/// The script of a health check of Redis, and the user that it runs as.
fn health_check(words: &str) -> (String, String) {
    let after = |word: &str| words.split_once(word).expect("the word").1.trim_start();
    let user = after("--user").split(' ').next().expect("a name").to_owned();
    let script = after("eval").trim_start_matches('"');
    (user, script.split('"').next().expect("a script").to_owned())
}

#[test]
fn health_checks_of_redis_write_as_the_user_of_the_instances() {
    let compose = compose();
    let redis = &compose["services"]["redis"];
    let words: Vec<&str> = list(&redis["healthcheck"]["test"]).iter().map(text).collect();
    let (_, container) = pod("frontend-map-redis");
    let command = list(&container["readinessProbe"]["exec"]["command"]);
    let script = words[words.iter().position(|word| *word == "eval").expect("eval") + 1];
    assert_eq!(
        words[words.iter().position(|word| *word == "--user").expect("a user") + 1],
        "frontend-map"
    );
    let kubernetes = health_check(text(&command[2]));
    assert_eq!(kubernetes, ("frontend-map".to_owned(), script.to_owned()));
    for (name, service) in compose["services"].as_object().expect("services") {
        assert_eq!(service["restart"], "unless-stopped", "{name}");
    }
    let dependency = &compose["services"]["frontend-map"]["depends_on"]["redis"]["condition"];
    assert_eq!(dependency, "service_healthy");
    // The script itself, with the arguments of the page.
    let key = words.last().expect("a key");
    assert!(key.starts_with("frontend-map:"), "{key}");
    let redis = crate::support::redis::Redis::start();
    let rights = redis_arguments(&redis_command(&compose));
    let at = rights.iter().position(|word| word == "resetchannels").expect("rights");
    let user: Vec<&str> = rights[at..].iter().map(String::as_str).collect();
    let _: String =
        redis.command(&[&["ACL", "SETUSER", "default", "resetkeys"][..], &user].concat());
    let written: String = redis.command(&["EVAL", script, "1", key]);
    assert_eq!(written, "OK");
}

fn redis_command(compose: &Value) -> Value {
    compose["services"]["redis"]["command"].clone()
}

/// The words of the `redis-server` command, without the first.
fn redis_arguments(words: &Value) -> Vec<String> {
    let words: Vec<&str> = list(words).iter().map(text).collect();
    assert_eq!(words[0], "redis-server");
    let secret = |word: &&str| {
        word.replace("${REDIS_PASSWORD}", "<password>").replace("$(REDIS_PASSWORD)", "<password>")
    };
    words[1..].iter().map(secret).collect()
}

#[test]
fn redis_of_compose_kubernetes_and_page_has_the_same_arguments() {
    let compose = redis_arguments(&compose()["services"]["redis"]["command"]);
    let (_, container) = pod("frontend-map-redis");
    assert_eq!(redis_arguments(&container["args"]), compose);
    let page = page("docs/deployment.md");
    let blocks = page.blocks("text");
    let user = blocks.iter().find(|block| block.starts_with("user frontend-map")).expect("an ACL");
    let at = compose.iter().rposition(|word| word == "--user").expect("a user");
    let words: Vec<&str> = compose[at + 1..].iter().map(String::as_str).collect();
    assert_eq!(user.split_whitespace().skip(1).collect::<Vec<_>>(), words);
}

#[test]
fn image_unit_compose_and_kubernetes_turn_huge_pages_off_in_the_process() {
    let name = "MIMALLOC_ALLOW_THP";
    for file in [include_str!("../../Dockerfile"), IMAGE] {
        assert!(file.contains(&format!("\nENV {name}=0\n")), "{file}");
    }
    assert!(UNIT.contains(&format!("\nEnvironment={name}=0\n")));
    assert_eq!(compose()["services"]["frontend-map"]["environment"][name], "0");
    let (_, container) = pod("frontend-map");
    let is_it = |variable: &&Value| variable["name"] == name;
    let variable = list(&container["env"]).iter().find(is_it).expect("the variable");
    assert_eq!(variable["value"], "0");

    let service = Setup::fixture().env(name, "0").start();
    let status = std::fs::read_to_string(format!("/proc/{}/status", service.pid()));
    let status = status.expect("the status of the process");
    assert!(status.contains("\nTHP_enabled:\t0\n"), "{status}");
}

#[test]
fn documents_of_a_yaml_file_have_the_values_of_its_text() {
    let text = "a: 1\nb: [x, \"1\", ~]\n---\nc:\n  - d: true\n    e: |\n      two\n      lines\n  - >-\n    one\n    line\n";
    let expected = [
        json!({"a": 1, "b": ["x", "1", null]}),
        json!({"c": [{"d": true, "e": "two\nlines\n"}, "one line"]}),
    ];
    assert_eq!(yaml::documents(text), expected);
}

#[test]
fn packages_of_a_release_have_the_version_of_the_service() {
    let manifests = [
        include_str!("../../clients/js/package.json"),
        include_str!("../../plugins/strapi/package.json"),
    ];
    for manifest in manifests {
        let manifest: Value = serde_json::from_str(manifest).expect("JSON");
        assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"), "{}", manifest["name"]);
    }
}
