/** The used part of Bruno's own reader and writer of its files, which have no types. */
declare module "@usebruno/lang" {
  interface BrunoRequest {
    readonly http: { readonly method: string; readonly url: string; readonly body: string };
    readonly body: { readonly json: string };
    readonly params?: readonly { readonly name: string; readonly type: string }[];
  }
  const language: {
    jsonToBruV2(request: object): string;
    bruToJsonV2(text: string): BrunoRequest;
    jsonToCollectionBru(collection: object): string;
    envJsonToBruV2(environment: object): string;
  };
  export = language;
}
