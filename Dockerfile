# One set of layers, and a target for each service, for all in one process and for the command line (docs/adr/0001-one-workspace-one-image.md).
ARG NODE_IMAGE=node:24.21.0-bookworm-slim

# Manifests alone, so that an edit of a source leaves the installation in the cache.
FROM ${NODE_IMAGE} AS manifests
WORKDIR /app
COPY . .
RUN find packages services -mindepth 2 ! -name package.json -delete

FROM ${NODE_IMAGE} AS install
# As packageManager of package.json.
ARG PNPM_VERSION=12.21.0
RUN --mount=type=secret,id=ca \
    NODE_EXTRA_CA_CERTS=/run/secrets/ca npm install --global "pnpm@${PNPM_VERSION}"
WORKDIR /app
COPY --from=manifests /app ./
RUN --mount=type=secret,id=ca \
    --mount=type=cache,id=pnpm,target=/pnpm \
    NODE_EXTRA_CA_CERTS=/run/secrets/ca pnpm install --prod --frozen-lockfile --store-dir /pnpm \
      --filter-prod '{./services/*}...' --filter-prod '@pesewa/compact...' --filter-prod '@pesewa/cli...' && \
    mkdir /data

FROM ${NODE_IMAGE} AS sources
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.vendor="Pesewa" \
      org.opencontainers.image.licenses="UNLICENSED" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
# A port on a container's loopback address can't be reached from outside it. NODE_OPTIONS: as packages/stack starts services.
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    NODE_OPTIONS=--max-semi-space-size=32
COPY --from=install /app /app
COPY packages /app/packages
COPY services /app/services
USER 1000:1000

FROM sources AS payout-gateway
LABEL org.opencontainers.image.title="payout-gateway"
WORKDIR /app/services/payout-gateway
CMD ["node", "src/main.ts"]

FROM sources AS collection-gateway
LABEL org.opencontainers.image.title="collection-gateway"
WORKDIR /app/services/collection-gateway
CMD ["node", "src/main.ts"]

FROM sources AS webhook-ingress
LABEL org.opencontainers.image.title="webhook-ingress"
WORKDIR /app/services/webhook-ingress
CMD ["node", "src/main.ts"]

FROM sources AS reconciler
LABEL org.opencontainers.image.title="reconciler"
WORKDIR /app/services/reconciler
CMD ["node", "src/main.ts"]

FROM sources AS ledger
LABEL org.opencontainers.image.title="ledger"
WORKDIR /app/services/ledger
CMD ["node", "src/main.ts"]

FROM sources AS webhook-dispatcher
LABEL org.opencontainers.image.title="webhook-dispatcher"
WORKDIR /app/services/webhook-dispatcher
CMD ["node", "src/main.ts"]

FROM sources AS console
LABEL org.opencontainers.image.title="console"
WORKDIR /app/services/console
CMD ["node", "src/main.ts"]

FROM sources AS provider-simulator
LABEL org.opencontainers.image.title="provider-simulator"
# A volume that is empty takes its owner from here; the journal must outlive the container.
COPY --from=install --chown=1000:1000 /data /data
WORKDIR /app/services/provider-simulator
CMD ["node", "src/main.ts"]

FROM sources AS compact
LABEL org.opencontainers.image.title="compact"
WORKDIR /app/packages/compact
CMD ["node", "src/main.ts"]

FROM sources AS pesewa
LABEL org.opencontainers.image.title="pesewa"
WORKDIR /app/packages/cli
ENTRYPOINT ["node", "src/main.ts"]
CMD ["--help"]
