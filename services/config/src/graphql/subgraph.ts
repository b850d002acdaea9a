import { readFile } from "node:fs/promises";
import type { RequestListener } from "node:http";
import { type Principal, requireScopes, requireState } from "@signalbox/auth";
import { AppError, systemClock } from "@signalbox/core";
import { createSubgraph, mutationPayload, requirePrincipal, type SubgraphContext } from "@signalbox/graphql";
import type { Logger } from "@signalbox/telemetry";
import type { Override } from "../overrides/override-store.ts";
import { properties } from "../properties.ts";
import type { Verbs } from "../service.ts";

const schemaFile = new URL("../../schema.graphql", import.meta.url);

type Context = SubgraphContext<unknown>;
interface ChangeInput {
  readonly name: string;
  readonly value?: unknown;
  readonly expectedRevision: string;
  readonly reason?: string | null;
}

/** This service's part of the graph. */
export async function createConfigSubgraph(verbs: Verbs, log: Logger): Promise<RequestListener> {
  const typeDefs = await readFile(schemaFile, "utf8");
  return createSubgraph({
    typeDefs,
    log,
    clock: systemClock,
    createLoaders: () => ({}),
    resolvers: resolversOf(verbs),
  });
}

/** What every field answers, and to whom. */
export function resolversOf({ configuration, overrides, catalogue, readSettings, changeProperty }: Verbs) {
  const viewOverride = ({ name, value, revision, reason, changedAt }: Override) => ({
    value: catalogue.isMasked(name, value) ? null : value,
    revision: String(revision),
    reason,
    changedAt,
  });
  return {
    Query: {
      serverSettings: (_parent: unknown, _arguments: unknown, { principal }: Context) => {
        if (principal) requireState(principal, "read");
        return readSettings(principal).resource;
      },
      properties: async (_parent: unknown, _arguments: unknown, context: Context) => {
        const principal = requirePrincipal(context);
        requireScopes(principal, ["config:read"]);
        requireState(principal, "read");
        const inForce = new Map((await overrides.list()).map((override) => [override.name, viewOverride(override)]));
        return Object.keys(properties).flatMap((name) => {
          const found = configuration.find(name);
          if (found === null) return [];
          const { value, source } = found.property;
          const masked = value === "******";
          return [{ name, value: masked ? null : value, masked, source, override: inForce.get(name) ?? null }];
        });
      },
    },
    Mutation: {
      setProperty: (_parent: unknown, { input }: { input: ChangeInput }, context: Context) =>
        change(operator(context), input, input.value),
      unsetProperty: (_parent: unknown, { input }: { input: ChangeInput }, context: Context) =>
        change(operator(context), input, undefined),
    },
  };

  function change(principal: Principal, input: ChangeInput, value: unknown) {
    return mutationPayload("override", async () => {
      const { name, reason = null } = input;
      const expectedRevision = revisionFrom(input.expectedRevision);
      const override = await changeProperty({ name, value, expectedRevision, reason, actor: principal.accountId });
      return override === null ? null : viewOverride(override);
    });
  }
}

function operator(context: Context): Principal {
  const principal = requirePrincipal(context);
  requireScopes(principal, ["config:admin"]);
  requireState(principal, "write");
  return principal;
}

function revisionFrom(text: string): bigint {
  if (/^\d{1,18}$/.test(text)) return BigInt(text);
  throw new AppError("validation_error", "expectedRevision must be a revision, as digits.", {
    field: "expectedRevision",
  });
}
