//! Maps the content of a headless CMS to public frontend URLs, in both directions.
