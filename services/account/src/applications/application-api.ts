import { ApplicationResource, exampleOf } from "@signalbox/contracts";
import type { ErrorDetail } from "@signalbox/core";
import {
  connectionField,
  created,
  field,
  type HttpResponse,
  listPage,
  ok,
  pageOf,
  pageParameters,
  type Refusal,
  type Routes,
  refused,
  strongEtag,
} from "@signalbox/http";
import { conflict, type Edges, edgesOf, type OwnRow, operation, tooMany } from "@signalbox/service";
import { z } from "zod";
import type { AccountService } from "../context/account-service.ts";
import { rotationOf } from "../credentials/credential.ts";
import { findApplication, listApplications, lockApplication } from "./application-store.ts";
import {
  createApplication,
  deleteApplication,
  type IssuedSecret,
  removePreviousApplicationSecrets,
  rotateApplicationSecret,
  updateApplication,
} from "./applications.ts";
import {
  ApplicationPatch,
  IssuedApplication,
  liveSecretsOf,
  NewApplication,
  type StoredApplication,
  viewApplication,
} from "./stored-application.ts";

const base = "/api/v1/oauth/applications";
const one = `${base}/:application_id` as const;
const administration = { scopes: ["account:admin"] } as const;
const change = { ...administration, stepUp: true } as const;
const missing = "There is no such application.";
const names = { keysInInput: true, names: { application_id: "id" } } as const;

const invalid = ({ problems }: { readonly problems: readonly ErrorDetail[] }): Refusal => ({
  code: "validation_error",
  message: problems[0]?.message ?? "",
  details: [...problems],
});

const etagOf = ({ id, revision }: StoredApplication): string => strongEtag(revision, id);

/** The applications that people sign in to, for administrators, at both edges. */
export function applicationApi(service: AccountService): Edges {
  const { pageLimits, pool, clock } = service;
  const fields = {
    Query: {
      oauthApplications: connectionField<unknown, object, StoredApplication>(administration, {
        limits: pageLimits,
        read: (range) => listApplications(pool, range),
      }),
      oauthApplication: field<unknown, { readonly id: string }>(administration, (_parent, { id }) =>
        findApplication(pool, id),
      ),
    },
    OauthApplication: { secrets: (shown: StoredApplication) => liveSecretsOf(shown, clock.now()) },
  };
  const edges = edgesOf(
    { ...writes(service), ...secretWrites(service) },
    { errors: "account", exampleIds: { application_id: exampleOf(ApplicationResource).id }, fields },
  );
  addReads(service, edges.routes);
  return edges;
}

function addReads(service: AccountService, routes: Routes): void {
  const { pageLimits, pool, clock } = service;
  routes.get(base, {
    operationId: "oauthApplications",
    summary: "List the applications that people sign in to, newest first",
    description:
      "The applications that were created here, without the built-in `console` and `cli` and those in `account.oauth.applications`.",
    auth: administration,
    query: z.object(pageParameters(pageLimits)),
    responses: { 200: pageOf(ApplicationResource) },
    handle: ({ query }) =>
      listPage(
        query,
        (range) => listApplications(pool, range),
        (listed) => viewApplication(listed, clock.now()),
      ),
  });

  routes.get(one, {
    operationId: "oauthApplication",
    summary: "Read an application that people sign in to",
    description: "Without its secrets, which are shown only on creation and rotation.",
    auth: administration,
    responses: { 200: ApplicationResource, 404: "error" },
    async handle({ params }) {
      const found = await findApplication(pool, params.application_id);
      return found ? show(service, found) : refused(404, "not_found", { message: missing });
    },
  });
}

const show = ({ clock }: AccountService, application: StoredApplication): HttpResponse =>
  ok(viewApplication(application, clock.now()), { etag: etagOf(application) });

const viewIssued = ({ clock }: AccountService, { application, secret }: IssuedSecret) => ({
  ...viewApplication(application, clock.now()),
  client_id: application.id,
  client_secret: secret,
});

const locked: OwnRow<StoredApplication, { application_id: string }> = {
  find: (tx, { params }) => lockApplication(tx, params.application_id),
  etag: etagOf,
  missing,
};

const issuedGraph = {
  payload: {
    oauthApplication: ({ application }: IssuedSecret) => application,
    clientSecret: ({ secret }: IssuedSecret) => secret,
  },
  type: "IssuedOauthApplicationPayload",
} as const;

function writes(service: AccountService) {
  return {
    createOauthApplication: operation({
      summary: "Create an application that people sign in to",
      description: "The answer shows the secret of a server, once.",
      auth: change,
      audit: "application.create",
      input: NewApplication,
      create: (tx, { caller, input }) => createApplication(service, tx, caller, input),
      refusals: {
        invalid,
        "limit-reached": ({ max }) =>
          tooMany("applications", `There are ${max} applications; delete one that is not needed.`),
        "no-issuer": conflict(
          "applications",
          "no_issuer",
          "People sign in at another issuer here. Create the application there.",
        ),
      },
      rest: {
        post: base,
        responses: { 201: IssuedApplication, 409: "error" },
        idempotent: "sealed",
        answer: (issued) =>
          created(`${base}/${issued.application.id}`, viewIssued(service, issued), {
            etag: etagOf(issued.application),
          }),
      },
      graph: issuedGraph,
    }),
    updateOauthApplication: operation({
      summary: "Change an application that people sign in to",
      description: "Its type and its party cannot change. Tokens keep their scopes until they expire, within the hour.",
      auth: change,
      audit: "application.update",
      input: ApplicationPatch,
      of: locked,
      change: (tx, application, { caller, input }) => updateApplication(service, tx, caller, application, input),
      refusals: { invalid },
      rest: {
        patch: one,
        mergePatch: true,
        responses: { 200: ApplicationResource },
        idempotent: true,
        answer: ({ application }) => show(service, application),
      },
      graph: { payload: { oauthApplication: ({ application }) => application }, ...names },
    }),
    deleteOauthApplication: operation({
      summary: "Delete an application that people sign in to",
      description: "Nobody can sign in to it any more, and its tokens end everywhere within two seconds.",
      auth: change,
      audit: "application.delete",
      of: locked,
      change: (tx, application, { caller }) => deleteApplication(service, tx, caller, application),
      rest: { delete: one, responses: { 204: "empty" }, idempotent: true },
      graph: {
        payload: { deletedOauthApplicationId: (_, { params }) => params.application_id },
        type: "DeleteOauthApplicationPayload",
        ...names,
      },
    }),
  };
}

function secretWrites(service: AccountService) {
  return {
    rotateOauthApplicationSecret: operation({
      summary: "Rotate the secret of a server application",
      description:
        "The answer shows the secret, once. The old one keeps working for `overlap_seconds`; until then another rotation is 409, unless its `overlap_seconds` is 0, which ends every older secret at once.",
      auth: change,
      audit: "application.rotate_secret",
      input: rotationOf("secret"),
      of: locked,
      change: (tx, application, { caller, input }) =>
        rotateApplicationSecret(service, tx, caller, application, input.overlap_seconds),
      refusals: {
        "no-secret": conflict(
          "type",
          "unsupported",
          "Only a server application has a secret: others run where users could read it.",
        ),
        "already-rotated": conflict(
          "overlap_seconds",
          "already_rotated",
          "Two secrets are valid. Rotate after the older one has ended, or with an overlap of 0 seconds.",
        ),
      },
      rest: {
        post: `${one}/secret/rotate`,
        responses: { 200: IssuedApplication, 409: "error" },
        idempotent: "sealed",
        answer: (issued) => ok(viewIssued(service, issued), { etag: etagOf(issued.application) }),
      },
      graph: { ...issuedGraph, ...names },
    }),
    deletePreviousOauthApplicationSecrets: operation({
      summary: "End the overlap of a rotation: only the newest secret of an application works",
      description: "For an older secret that may have leaked. Changes nothing if there is none.",
      auth: change,
      audit: "application.rotate_secret",
      of: locked,
      change: (tx, application, { caller }) => removePreviousApplicationSecrets(service, tx, caller, application),
      rest: { delete: `${one}/secret/previous`, responses: { 204: "empty" }, idempotent: true },
      graph: {
        payload: { oauthApplicationId: (_, { params }) => params.application_id },
        type: "DeletePreviousOauthApplicationSecretsPayload",
        ...names,
      },
    }),
  };
}
