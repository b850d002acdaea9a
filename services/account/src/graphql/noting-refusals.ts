import { isAppError } from "@signalbox/core";
import type { Resolvers } from "@signalbox/graphql";
import { type NoteRefusal, refusalOf } from "../audit/note-refusal.ts";
import type { AccountContext } from "./account-resolvers.ts";
import type { AccountLoaders } from "./subgraph.ts";

type Table = Resolvers<AccountLoaders>;
type Resolver = NonNullable<Table[string]>[string];

/** The resolvers, with every refusal of a known caller going to the audit as it does at the REST edge. */
export function notingRefusals(table: Table, noteRefusal: NoteRefusal): Table {
  const types = Object.entries(table).map(([type, fields]) => {
    const noting = Object.entries(fields).map(([name, resolve]) => [name, notingIn(`${type}.${name}`, resolve)]);
    return [type, Object.fromEntries(noting)];
  });
  return Object.fromEntries(types);

  function notingIn(operation: string, resolve: Resolver): Resolver {
    return (parent, given, context) => {
      try {
        const result = resolve(parent, given, context);
        return result instanceof Promise ? result.catch((error) => note(error, operation, context)) : result;
      } catch (error) {
        return note(error, operation, context);
      }
    };
  }

  function note(error: unknown, operation: string, context: AccountContext): never {
    if (context.principal && isAppError(error) && error.code === "forbidden") {
      noteRefusal(refusalOf({ caller: context.caller, operation, refusal: error }));
    }
    throw error;
  }
}
