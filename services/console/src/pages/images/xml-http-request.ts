type OnProgress = (sentBytes: number, totalBytes: number) => void;

/** Sends a request with XMLHttpRequest, since `fetch` does not say how much of a body has been sent. */
export function byXmlHttpRequest(onProgress: OnProgress): (request: Request) => Promise<Response> {
  return async (request) => {
    const body = await request.blob();
    const xhr = new XMLHttpRequest();
    xhr.open(request.method, request.url);
    xhr.responseType = "blob";
    for (const [name, value] of request.headers) xhr.setRequestHeader(name, value);
    xhr.upload.onprogress = ({ loaded, total }) => onProgress(loaded, total);
    const stop = () => xhr.abort();
    request.signal.addEventListener("abort", stop);
    try {
      return await new Promise<Response>((resolve, reject) => {
        xhr.onload = () => resolve(responseOf(xhr));
        xhr.onerror = () => reject(new TypeError("The connection was lost."));
        xhr.onabort = () => reject(request.signal.reason);
        if (request.signal.aborted) return reject(request.signal.reason);
        xhr.send(body);
      });
    } finally {
      request.signal.removeEventListener("abort", stop);
    }
  };
}

function responseOf(xhr: XMLHttpRequest): Response {
  const lines = xhr.getAllResponseHeaders().trim().split("\r\n");
  const headers = new Headers(
    lines.map((line): [string, string] => {
      const [name = "", ...value] = line.split(": ");
      return [name, value.join(": ")];
    }),
  );
  const { status, statusText } = xhr;
  return new Response(status === 204 ? null : xhr.response, { status, statusText, headers });
}
