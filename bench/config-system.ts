import { draft, type EventData, eventOf } from "@signalbox/contracts";
import { publishEvents } from "@signalbox/events";
import { testPerson } from "@signalbox/testing";
import { answerOf, type BenchService, benchParts, forked, openSurroundings } from "./systems.ts";

/** The config service with a hundred flags, and a caller. */
export interface ConfigService extends BenchService {
  readonly accountId: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Publishes an override for every instance. */
  override(property: string, value: number): Promise<void>;
  /** Opens streams of the configuration; the returned function waits until each has received a text. */
  follow(count: number): Promise<(text: string, cause: () => Promise<void>) => Promise<readonly number[]>>;
}

export async function startConfigService(opened: AsyncDisposableStack): Promise<ConfigService> {
  const { start, eventLog } = await openSurroundings(opened);
  const { accountId, headers } = testPerson({ roles: ["owner"], profile: { locale: "de", createdAtMs: 0 } });
  const publish = (event: Parameters<typeof publishEvents>[1][number]) =>
    publishEvents({ ...benchParts(), service: "config", eventLog }, [event]);
  let revision = 0;
  while (revision < 100) await publish(flagOf(`flag${revision}`, ++revision));
  const service = await start("config", { "config.streams.max-per-credential": "1000000" });
  return {
    ...service,
    accountId,
    headers,
    override: (property, value) => {
      const data = { ...eventOf("config.changed").example, property, value, revision: ++revision };
      return publish(draft("config.changed", { subject: property, accountId: null, data }));
    },
    async follow(count) {
      const stream = `${service.origin}/api/v1/config/stream`;
      const args = [stream, String(count), headers.authorization];
      const { child } = await forked(opened, "stream-followers", args);
      return async (text, cause) => {
        await answerOf(child, text);
        const received = answerOf<number[]>(child);
        await cause();
        return received;
      };
    },
  };
}

/** Builds a flag with five rules, of which the last matches half of the accounts. */
function flagOf(key: string, revision: number) {
  const never = [{ accounts: ["acc_other"] }, { locales: ["fr"] }, { roles: ["viewer" as const] }, { age: { to: 1 } }];
  const rules = [...never, { percentage: 50 }].map((rule) => ({ ...rule, variant: "on" }));
  const { example } = eventOf("flag.changed");
  const definition = { ...(example.definition as NonNullable<EventData<"flag.changed">["definition"]>), key, rules };
  const data = { ...example, flag: key, definition: { ...definition, salt: key }, revision };
  return draft("flag.changed", { subject: `flag:${key}`, accountId: null, data });
}
