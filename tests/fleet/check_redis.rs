//! `check` tries the Redis that several instances share.

use crate::instances::{instance, serves};
use crate::support::content::Content;
use crate::support::redis::Redis;
use crate::support::service::{Ended, Setup};
use crate::support::settings::site;
use crate::support::wait::until_so;

fn setup(url: &str) -> Setup {
    site("main").more(&format!("[shared]\nurl = \"{url}\"")).setup()
}

fn check(setup: &Setup) -> Ended {
    setup.run(&["check", "--strict"])
}

#[track_caller]
fn fails(setup: &Setup, expected: &[&str]) {
    let ended = check(setup);
    assert_eq!(ended.status, Some(1), "{}", ended.stdout);
    for text in expected {
        assert!(ended.stdout.contains(text), "{text}: {}", ended.stdout);
    }
    assert!(ended.stdout.starts_with("the settings are valid, but there "), "{}", ended.stdout);
    assert!(ended.stderr.contains("with Redis"), "{}", ended.stderr);
}

#[test]
fn redis_that_can_be_used_is_said_to_be_and_gets_no_keys() {
    let redis = Redis::start();
    let ended = check(&setup(&redis.url()));
    assert_eq!(ended.status, Some(0), "{}{}", ended.stdout, ended.stderr);
    assert!(ended.stdout.contains(&format!("Redis can be used: {}/0\n", redis.url())));
    assert_eq!(redis.keys("*"), Vec::<String>::new());
    let offline = setup("redis://127.0.0.1:9").run(&["check", "--strict", "--offline"]);
    assert_eq!(offline.status, Some(0), "{}", offline.stdout);
    assert!(offline.stdout.contains("Redis was not tried (--offline)"));
}

#[test]
fn redis_that_cannot_be_reached_or_refuses_the_password_is_a_problem_with_its_fix() {
    let absent = Redis::absent();
    fails(
        &setup(&absent.url()),
        &["Redis: redis://127.0.0.1:", "no connection", "check `shared.url`"],
    );
    let redis = Redis::start();
    let _: String = redis.command(&["CONFIG", "SET", "requirepass", "right"]);
    let wrong = setup(&redis.url()).env("FRONTEND_MAP__SHARED__PASSWORD", "hunter2");
    fails(&wrong, &["refuses the user or the password", "FRONTEND_MAP__SHARED__PASSWORD"]);
    assert!(!check(&wrong).stdout.contains("hunter2"));
    let right = setup(&redis.url()).env("FRONTEND_MAP__SHARED__PASSWORD", "right");
    assert_eq!(check(&right).status, Some(0), "{}", check(&right).stdout);
}

#[test]
fn commands_and_keys_that_the_user_may_not_use_are_named() {
    let redis = Redis::start();
    let setup = setup(&redis.url());
    let rights = |rules: &[&str]| {
        let _: String = redis.command(&[&["ACL", "SETUSER", "default"], rules].concat());
    };
    rights(&["-xtrim", "-hscan", "-unlink", "-evalsha"]);
    fails(&setup, &["allow `+evalsha +hscan +xtrim +unlink`"]);
    rights(&["+@all", "resetkeys", "~other:*"]);
    fails(&setup, &["allow `~frontend-map:*`"]);
    rights(&["allkeys", "-info"]);
    let ended = check(&setup);
    assert_eq!(ended.status, Some(0), "{}", ended.stdout);
    assert!(ended.stdout.contains("the eviction policy is not known: allow `+info`"));
}

#[test]
fn eviction_policy_and_full_memory_are_problems() {
    let redis = Redis::start();
    let setup = setup(&redis.url());
    let _: String = redis.command(&["CONFIG", "SET", "maxmemory-policy", "allkeys-lru"]);
    fails(&setup, &["`maxmemory-policy` is `allkeys-lru`", "set it to `noeviction`"]);
    let _: String = redis.command(&["CONFIG", "SET", "maxmemory-policy", "noeviction"]);
    let _: String = redis.command(&["CONFIG", "SET", "maxmemory", "1"]);
    fails(&setup, &["OOM: raise `maxmemory`"]);
}

#[test]
fn prefix_that_another_deployment_uses_is_a_problem_and_that_of_this_one_is_none() {
    let (content, redis) = (Content::new(&[("en", "a", "x")]), Redis::start());
    let cms = content.start();
    let own = instance(&cms, &redis);
    let is_shared = |setup: &Setup| check(setup).stdout.contains("another deployment");
    assert!(!is_shared(&own));
    let text = std::fs::read_to_string(own.path().join("settings.toml")).expect("settings");
    let service = own.start();
    serves(&service, &["x"]);
    let other = instance(&cms, &redis);
    until_so("the instance has registered", || !redis.keys("*:deployments").is_empty());
    assert!(!is_shared(&other));
    let text = text.replace("https://www.example.com", "https://staging.example.com");
    let other = other.file("settings.toml", &text);
    fails(&other, &["site main at https://www.example.com", "set another `shared.prefix`"]);
}
