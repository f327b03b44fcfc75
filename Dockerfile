# The service in a small image: the binary, glibc and root certificates; no shell, not root.
# `scripts/check_image.py` follows this file without a container engine.
#
#   docker build -t frontend-map .
#   docker run --read-only -p 8080:8080 -v ./settings.toml:/etc/frontend-map/settings.toml:ro \
#     -e FRONTEND_MAP__CMS__TOKEN -e FRONT_END_URL_MAIN=https://www.example.com frontend-map

# Both stages are Debian 12, so the binary meets the glibc that it was linked with.
FROM rust:1.95-slim-bookworm AS build
WORKDIR /build
COPY . .
RUN --mount=type=cache,target=/usr/local/cargo/registry cargo build --profile dist --locked
# For the store: a new volume takes over the owner of the folder that it is mounted on.
RUN mkdir /data

# Dynamic glibc on purpose. Linked statically, glibc's resolver still loads libraries at run time
# and fails or crashes where they are missing or of another version; musl needs nothing, but its
# allocator halves the requests per second. `cc` is `static` (certificates, no shell) plus glibc,
# whose libc.so itself looks names up in files and DNS.
FROM gcr.io/distroless/cc-debian12
COPY --from=build /build/target/dist/frontend-map /frontend-map
COPY --chown=65532:65532 --from=build /data /data
# All addresses: inside a container, loopback cannot be reached from outside.
ENV FRONTEND_MAP__SERVER__LISTEN=0.0.0.0:8080
# No huge pages, also on hosts where they are set to `always`: docs/deployment.md, "Memory".
ENV MIMALLOC_ALLOW_THP=0
ENV SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt
EXPOSE 8080
# In numbers, so that Kubernetes sees that it is not root.
USER 65532:65532
# Finds the port in the environment, as the service does.
HEALTHCHECK --interval=10s --timeout=5s --start-period=5s CMD ["/frontend-map", "health"]
# Ends running requests before it stops.
STOPSIGNAL SIGTERM
ENTRYPOINT ["/frontend-map"]
CMD ["--config", "/etc/frontend-map/settings.toml", "serve"]
