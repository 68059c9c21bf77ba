// Requests to the server that the page came from; addresses are relative, so the token is in them.

export class Refusal extends Error {}

async function checked(answer: Response): Promise<Response> {
  if (answer.ok) return answer;
  let reason = `The server answered ${answer.status}.`;
  try { reason = ((await answer.json()) as { error: string }).error; } catch { /* no sentence came with it */ }
  throw new Refusal(reason);
}

async function reached(asked: Promise<Response>): Promise<Response> {
  try { return await asked; } catch { throw new Refusal("The server does not answer. Is it still running?"); }
}

export async function get<T>(path: string): Promise<T> {
  return (await (await checked(await reached(fetch(path)))).json()) as T;
}

export async function numbers(path: string): Promise<Float32Array> {
  return new Float32Array(await (await checked(await reached(fetch(path)))).arrayBuffer());
}

async function send(path: string, said: unknown): Promise<Response> {
  const headers = { "Content-Type": "application/json" };
  return checked(await reached(fetch(path, { method: "POST", headers, body: JSON.stringify(said) })));
}

export async function post<T>(path: string, said: unknown = {}): Promise<T> { return (await (await send(path, said)).json()) as T; }
export async function postForText(path: string, said: unknown): Promise<string> { return (await send(path, said)).text(); }
