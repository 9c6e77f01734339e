# The command line as an image: not root, nothing to write to but /var/lib/hookproof and /tmp. docs/guides/containers.md
# says how it behaves, and docs/releasing.md how its base is pinned.
ARG NODE_IMAGE=node:24-bookworm-slim

# What runs: the packages of the lock file, and their list.
FROM ${NODE_IMAGE} AS packages
WORKDIR /app
COPY package.json package-lock.json LICENSE ./
COPY cli/package.json cli/LICENSE cli/
COPY cli/bin cli/bin
COPY service/package.json service/LICENSE service/
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund \
  && npm pkg delete devDependencies --workspaces --include-workspace-root \
  && npm sbom --sbom-format cyclonedx > sbom.json

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY . .
RUN npm ci --include=dev --ignore-scripts --no-audit --no-fund && npm run bundle

FROM ${NODE_IMAGE}
# The package managers are not needed to run, and each has packages of its own.
RUN rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /opt/yarn* \
  && mkdir -p /var/lib/hookproof /run/secrets && chown 65532:65532 /var/lib/hookproof /run/secrets \
  && ln -s /app/cli/bin/hookproof.cjs /usr/local/bin/hookproof
COPY --from=packages /app /app
COPY --from=build /app/dist /app/dist
COPY --from=build /app/cli/dist /app/cli/dist
COPY --from=build /app/cli/snippets /app/cli/snippets
COPY --from=build /app/cli/hookproof.schema.json /app/cli/
COPY --from=build /app/service/dist /app/service/dist
COPY --from=build /app/service/reference /app/service/reference
COPY --from=build /app/service/openapi.json /app/service/openapi.yaml /app/service/fixture.schema.json /app/service/
ENV NODE_ENV=production HOOKPROOF_HOME=/var/lib/hookproof HOOKPROOF_HEALTH_URL=http://127.0.0.1:9464/readyz
WORKDIR /var/lib/hookproof
USER 65532:65532
# A worker's by default; HOOKPROOF_HEALTH_URL is where the others answer.
HEALTHCHECK --interval=5s --timeout=4s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch(process.env.HOOKPROOF_HEALTH_URL).then(({status}) => process.exit(status < 500 ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["hookproof"]
CMD ["--help"]
