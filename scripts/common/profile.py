"""What `bench_http.py` and `count_instructions.py` measure: the shipped binary by its defaults."""

from common.build import BINARY, ROOT, example

SERVICE = (BINARY, "--config", ROOT / "tests/fixtures/main/settings.toml", "serve")
# The fixture's CORS origins are not among the defaults.
ENVIRONMENT = {
    "FRONT_END_URL_MAIN": "https://www.example.com",
    "FRONTEND_MAP__SERVER__CORS_ORIGINS": "",
}
BARE_SERVER = example("bare_server")
ROUTE = "/api/get-content-type"
# The query for each kind of answer.
QUERIES = {
    "full": "site=main&pathname=/en/articles/hello-world",
    "compact": "site=main&pathname=/en/articles/hello-world&compact=true",
    "404": "site=main&pathname=/no/such/path/at/all",
}
