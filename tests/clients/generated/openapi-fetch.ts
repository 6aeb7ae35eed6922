// An agent on openapi-fetch, typed by openapi-typescript: `node openapi-fetch.js URL KEY STATE`.
import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";

type JsonObject = components["schemas"]["JsonObject"];
type Status = components["schemas"]["CheckpointStatus"];

const [url, key, text] = process.argv.slice(2) as [string, string, string];
const state: JsonObject = JSON.parse(text);
const workflow_id = "generated/openapi-fetch";
const client = createClient<paths>({
  baseUrl: url,
  headers: { Authorization: `Bearer ${key}` },
  querySerializer: { object: { style: "form", explode: true } },
});

async function save(step: number, saved: JsonObject) {
  const status: Status = "active";
  const metadata = { team: "blue" };
  return client.POST("/checkpoints", { body: { workflow_id, step, state: saved, metadata, status } });
}

function present<T>(value: T | null | undefined): T {
  if (value === undefined || value === null) throw new Error("nothing was answered");
  return value;
}

const agent = await client.POST("/agents", { body: { agent_id: "generated", capabilities: ["save", ""] } });
const first = present((await save(1, {})).data);
const second = present((await save(2, state)).data);
const resumed = await client.GET("/workflows/{workflow_id}/resume", { params: { path: { workflow_id } } });
const replayed = await client.GET("/workflows/{workflow_id}/replay", {
  params: { path: { workflow_id }, query: { limit: 1000 } },
});
const got = await client.GET("/checkpoints/{checkpoint_id}", {
  params: { path: { checkpoint_id: second.checkpoint_id } },
});
const listed = await client.GET("/workflows", { params: { query: { metadata: { "metadata.team": "blue" } } } });
const conflict = await save(1, { other: true });
const missing = await client.GET("/workflows/{workflow_id}/resume", { params: { path: { workflow_id: "no such" } } });
const refused = present(conflict.error);

console.log(
  JSON.stringify({
    resumed: present(resumed.data).latest_checkpoint.state,
    got: present(got.data).state,
    replayed: present(replayed.data).checkpoints.map((checkpoint) => checkpoint.step),
    existing: "existing" in refused && refused.existing?.etag === first.etag,
    errors: [refused.error.code, present(missing.error).error.code],
    capabilities: present(agent.data).capabilities,
    listed: present(listed.data).workflows.map((workflow) => workflow.workflow_id),
  }),
);
