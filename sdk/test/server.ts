/** A real HTTP server that answers by a script and remembers what it was asked. */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { type ClientOptions, SnapStateClient } from "../src/index.js";

export interface Asked {
  method: string;
  path: string;
  headers: IncomingMessage["headers"];
  body: string;
}

export type Act = (response: ServerResponse, asked: Asked) => void;

/** An answer of this status; an object goes as JSON, a string as it is. */
export function answer(status: number, body: unknown = {}, headers: Record<string, string> = {}): Act {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return (response) => {
    response.writeHead(status, { "Content-Type": "application/json", "X-Request-Id": "from-the-header", ...headers });
    response.end(status === 204 || status === 304 ? undefined : text);
  };
}

export function refusal(status: number, code: string, headers: Record<string, string> = {}, more: object = {}): Act {
  return answer(status, { error: { code, message: `no: ${code}`, request_id: "r-1" }, ...more }, headers);
}

/** The request arrives, and the connection ends. */
export const hangUp: Act = (response) => response.socket?.destroy();
/** The connection ends in the middle of the answer. */
export const half: Act = (response) => {
  response.writeHead(201, { "Content-Length": "1000" });
  response.write('{"checkpoint_id": "cp_', () => setTimeout(() => response.socket?.destroy(), 5));
};
export const silence: Act = () => undefined;

export const SAVED = {
  checkpoint_id: "cp_wf_001",
  workflow_id: "wf",
  step: 1,
  etag: '"1-2-3"',
  created_at: "2026-11-29T00:00:00.000Z",
  size_bytes: 2,
  diff_from_previous: { added: ["a_b"], removed: [], changed: [] },
};

export interface Scripted {
  url: string;
  asked: Asked[];
  client: (options?: ClientOptions) => SnapStateClient;
}

/** Answers one act after the other, the last for ever. It is gone when the test is. */
export async function scripted(...acts: Act[]): Promise<Scripted> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      const { method = "", url: path = "", headers } = request;
      const one = { method, path, headers, body: Buffer.concat(pieces).toString() };
      asked.push(one);
      (acts[asked.length - 1] ?? acts[acts.length - 1])?.(response, one);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const quiet = { apiKey: "snp_test", baseUrl: url, onRetry: () => undefined };
  return { url, asked, client: (options) => new SnapStateClient({ ...quiet, ...options }) };
}

export async function thrown(work: PromiseLike<unknown> | (() => unknown)): Promise<unknown> {
  try {
    await (typeof work === "function" ? work() : work);
  } catch (error) {
    return error;
  }
  throw new Error("it did not fail");
}
