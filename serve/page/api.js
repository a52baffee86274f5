// Requests to the server that the page came from. Addresses are relative, so that a path prefix is kept.

// The key stays in this variable only.
let key = "";
export function setKey(text) { key = text; }

// Fault is an error of the server. Its status is 0 if there was no answer. retryAfter is in seconds, 0 if
// another attempt is pointless.
export class Fault extends Error {
  constructor(message, status, retryAfter) {
    super(message);
    Object.assign(this, { status, retryAfter });
  }
}

const noAnswer = () => new Fault("", 0, 5);

// send returns the response to a request. A body that is no form is sent as JSON.
async function send(path, { body, accept = "application/json", signal } = {}) {
  const headers = { Accept: accept };
  if (key) headers.Authorization = "Bearer " + key;
  if (body && !(body instanceof FormData)) {
    headers["Content-Type"] = "application/json";
    body = JSON.stringify(body);
  }
  let response;
  try {
    response = await fetch(path, { method: body ? "POST" : "GET", headers, body, signal, cache: "no-store" });
  } catch (fault) {
    throw fault.name === "AbortError" ? fault : noAnswer();
  }
  if (response.ok) return response;
  const { error } = await response.json().catch(() => ({}));
  throw new Fault(error || response.statusText, response.status, Number(response.headers.get("Retry-After")) || 0);
}

// ask returns the object of an answer.
export async function ask(path, options) {
  return (await send(path, options)).json();
}

// stream yields [name, data] of the server-sent events of an answer. The event error, and a stream that ends
// before the event last, are thrown.
export async function* stream(path, last, options) {
  const response = await send(path, { ...options, accept: "text/event-stream" });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";
  for (;;) {
    let chunk;
    try {
      chunk = await reader.read();
    } catch (fault) {
      throw fault.name === "AbortError" ? fault : noAnswer();
    }
    if (chunk.done) throw noAnswer();
    buffer += chunk.value;
    for (let end; (end = buffer.indexOf("\n\n")) >= 0; buffer = buffer.slice(end + 2)) {
      const [first, second] = buffer.slice(0, end).split("\n");
      const name = first.slice("event: ".length), data = JSON.parse(second.slice("data: ".length));
      if (name === "error") throw new Fault(data.error, data.status, data.retry_after || 0);
      yield [name, data];
      if (name === last) return;
    }
  }
}
