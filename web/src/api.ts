// Where answers come from: the server that the page came from, a notebook's kernel, or the page itself. The page sees
// a Source and nothing else, so the same page runs in all three.

export class Refusal extends Error {}

export type Method = "GET" | "POST";
export interface Answer { status: number; bytes: ArrayBuffer }
export interface Channel {
  ask(method: Method, path: string, said: unknown): Promise<Answer>;
  // Calls `look` whenever something may have changed elsewhere (another tab, Python); returns what ends that.
  watch(look: () => void): () => void;
}

export class Source {
  constructor(private channel: Channel) {}

  async get<T>(path: string): Promise<T> { return parsed<T>(await this.asked("GET", path)); }
  async numbers(path: string): Promise<Float32Array> { return new Float32Array(await this.asked("GET", path)); }
  async post<T>(path: string, said: unknown = {}): Promise<T> { return parsed<T>(await this.asked("POST", path, said)); }
  async postForText(path: string, said: unknown): Promise<string> { return text(await this.asked("POST", path, said)); }
  async postForBytes(path: string, said: unknown): Promise<ArrayBuffer> { return this.asked("POST", path, said); }
  watch(look: () => void): () => void { return this.channel.watch(look); }

  private async asked(method: Method, path: string, said: unknown = {}): Promise<ArrayBuffer> {
    const { status, bytes } = await this.channel.ask(method, path, said);
    if (status >= 200 && status < 300) return bytes;
    let reason = `The answer was ${status}.`;
    try { reason = parsed<{ error: string }>(bytes).error; } catch { /* no sentence came with it */ }
    throw new Refusal(reason);
  }
}

const text = (bytes: ArrayBuffer): string => new TextDecoder().decode(bytes);
const parsed = <T>(bytes: ArrayBuffer): T => JSON.parse(text(bytes)) as T;

// The server that the page came from; addresses are relative, so the token is in them.
export const server: Channel = {
  async ask(method, path, said) {
    const headers = { "Content-Type": "application/json" };
    try {
      const answer = await fetch(path, method === "GET" ? {} : { method, headers, body: JSON.stringify(said) });
      return { status: answer.status, bytes: await answer.arrayBuffer() };
    } catch { throw new Refusal("The server does not answer. Is it still running?"); }
  },
  watch(look) {
    const timer = setInterval(look, 2000);
    document.addEventListener("visibilitychange", look);
    return () => { clearInterval(timer); document.removeEventListener("visibilitychange", look); };
  },
};
