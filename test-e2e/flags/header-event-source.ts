import { readStream, type StreamReader } from "@signalbox/testing";

/** An `EventSource` that sends credentials in a header, which a browser's cannot, and that can be closed. */
export function eventSourceWith(headers: Record<string, string>) {
  const open: StreamReader[] = [];
  class HeaderEventSource extends EventTarget {
    static readonly CONNECTING = 0;
    static readonly OPEN = 1;
    static readonly CLOSED = 2;
    readyState = HeaderEventSource.CONNECTING;
    #stream: StreamReader | null = null;

    constructor(url: string) {
      super();
      void this.#read(url);
    }

    close(): void {
      this.readyState = HeaderEventSource.CLOSED;
      this.#stream?.close();
    }

    async #read(url: string): Promise<void> {
      const stream = await readStream(url, headers, ({ event, data }) => {
        if (event === "message") this.dispatchEvent(new MessageEvent("message", { data: JSON.stringify(data) }));
      });
      this.#stream = stream;
      open.push(stream);
      this.readyState = HeaderEventSource.OPEN;
      this.dispatchEvent(new Event("open"));
    }
  }
  return { EventSource: HeaderEventSource, close: () => open.map((each) => each.close()) };
}
