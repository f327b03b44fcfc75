"""What `bench_http.py` and `count_instructions.py` measure: the shipped binary by its defaults."""

from common.build import ROOT, bench_server

SETTINGS = ROOT / "tests/fixtures/main/settings.toml"
# The fixture's CORS origins are not among the defaults.
OVERRIDES = {"SERVER__CORS_ORIGINS": ""}
VARIABLES = {"FRONT_END_URL_MAIN": "https://www.example.com"}
BARE_SERVER = bench_server("bare_server")
ROUTE = "/api/get-content-type"
# The query for each kind of answer.
QUERIES = {
    "full": "site=main&pathname=/en/articles/hello-world",
    "compact": "site=main&pathname=/en/articles/hello-world&compact=true",
    "404": "site=main&pathname=/no/such/path/at/all",
}
