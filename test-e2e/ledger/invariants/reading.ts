import type { Evidence, Invariant } from "../evidence.ts";
import type { Operation } from "../history.ts";
import { agreements, groupBy, operations, possible, succeeded } from "./look-up.ts";

/**
 * Returns the possible final values of one writer: the last acknowledged one, or an unanswered one that may have come
 * later.
 */
function mayRemain(all: readonly Operation[], textOf: (one: Operation) => string, initial: string | null): Set<string> {
  const last = all.filter(({ outcome }) => outcome === "ok").at(-1);
  const unclear = all.filter(({ outcome }) => outcome === "info").map(textOf);
  return new Set([...unclear, ...(last ? [textOf(last)] : initial === null ? [] : [initial])]);
}

export const everyOkIsReadable: Invariant = {
  name: "every-ok-is-readable",
  sentence: "Every acknowledged change is read at the end.",
  violations: (evidence) => [
    ...unreadableImages(evidence),
    ...lostTitles(evidence),
    ...lostSettings(evidence),
    ...lostNames(evidence),
    ...lostWebhooks(evidence),
    ...agreements.flatMap((agreement) => lostAgreement(evidence, agreement)),
  ],
};

function unreadableImages(evidence: Evidence): string[] {
  const deleted = new Set(operations(evidence, "delete-image").map(({ value }) => value.image));
  return succeeded(evidence, "upload")
    .filter(({ answer }) => !deleted.has(answer.image) && evidence.images[answer.image] === undefined)
    .map(({ answer }) => `the image ${answer.image} is not readable`);
}

function lostTitles(evidence: Evidence): string[] {
  const patches = groupBy(operations(evidence, "patch-image"), ({ value }) => value.image);
  return [...patches].flatMap(([image, all]) => {
    const title = evidence.images[image]?.title;
    const allowed = mayRemain(all, ({ value }) => value.title, "n-0");
    return title !== undefined && !allowed.has(title) ? [`the image ${image} has the title ${title}`] : [];
  });
}

function lostSettings(evidence: Evidence): string[] {
  const writers = groupBy(operations(evidence, "patch-settings"), ({ value }) => value.account);
  return [...writers].flatMap(([account, all]) => {
    const settings = evidence.accounts[account]?.settings ?? "unreadable";
    const allowed = mayRemain(all, ({ value }) => value.settings, null);
    return allowed.size > 0 && !allowed.has(settings) ? [`${account} has the settings ${settings}`] : [];
  });
}

/** Two writers change the name, so the order is judged elsewhere. */
function lostNames(evidence: Evidence): string[] {
  const writers = groupBy(possible(evidence, "patch-account"), ({ value }) => value.account);
  return [...writers].flatMap(([account, all]) => {
    const name = evidence.accounts[account]?.name ?? "unreadable";
    const isKnown = all.some(({ value }) => value.name === name);
    return all.some(({ outcome }) => outcome === "ok") && !isKnown ? [`${account} is called ${name}`] : [];
  });
}

function lostWebhooks(evidence: Evidence): string[] {
  const stored = new Set(evidence.webhooks.map(({ source, delivery }) => `${source} ${delivery}`));
  return succeeded(evidence, "webhook")
    .filter(({ value }) => !stored.has(`${value.source} ${value.delivery}`))
    .map(({ value }) => `the webhook ${value.delivery} is not listed`);
}

function lostAgreement(evidence: Evidence, { op, of }: (typeof agreements)[number]): string[] {
  const all = operations(evidence, op);
  const allowed = mayRemain(all, ({ value }) => value.value, null);
  const value = evidence[of].database?.value ?? "unset";
  return allowed.size > 0 && succeeded(evidence, op).length > 0 && !allowed.has(value) ? [`${of} hold ${value}`] : [];
}

export const bytesAreWhole: Invariant = {
  name: "bytes-are-whole",
  sentence: "The bytes of every image are those that were sent, and the image is ready.",
  violations: (evidence) =>
    succeeded(evidence, "upload").flatMap(({ value, answer }) => {
      const image = evidence.images[answer.image];
      if (!image) return [];
      const wrong = image.sha256 === value.sha256 ? [] : [`the bytes of ${answer.image} are not those that were sent`];
      return image.status === "ready" ? wrong : [...wrong, `${answer.image} is ${image.status}`];
    }),
};

export const keyedOnce: Invariant = {
  name: "keyed-once",
  sentence:
    "A keyed upload that is repeated is answered and there exactly once, an unkeyed one and a webhook at most once.",
  violations: (evidence) => {
    const created = evidence.log.filter(({ type }) => type === "image.created");
    const ids = groupBy(
      [...evidence.imageRows, ...created.map(({ key, data }) => ({ id: key, title: data.title }))],
      ({ title }) => title,
    );
    const uploads = operations(evidence, "upload").flatMap(({ value, outcome, answer }) => {
      const count = new Set(ids.get(value.title)?.map(({ id }) => id)).size;
      const isMissing = value.keyed && outcome === "ok" && count === 0;
      const problem = count > 1 || isMissing ? [`${value.title} is there ${count} times`] : [];
      const isStuck = value.keyed && outcome !== "ok";
      return value.first
        ? []
        : [...problem, ...(isStuck ? [`${value.title} was never answered: ${answer.status}`] : [])];
    });
    const webhooks = groupBy(evidence.webhooks, ({ source, delivery }) => `${source} ${delivery}`);
    const repeated = [...webhooks].filter(([, all]) => all.length > 1).map(([name]) => `${name} is stored twice`);
    return [...uploads, ...repeated];
  },
};

export const noLostUpdate: Invariant = {
  name: "no-lost-update",
  sentence: "Of two changes of the same state under If-Match, one is refused.",
  violations: (evidence) => {
    const bases = groupBy(succeeded(evidence, "patch-account"), ({ value }) => `${value.account} ${value.base}`);
    return [...bases]
      .filter(([, all]) => all.length > 1)
      .map(([, all]) => `from one state came ${all.map(({ value }) => value.name).join(" and ")}`);
  },
};
