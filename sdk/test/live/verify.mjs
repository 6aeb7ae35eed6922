/** Verifies what stands on standard input, as a webhook's receiver would: `{body (base64), headers, secrets}`. */

import { readFileSync } from "node:fs";
import { verifyWebhook } from "@snapstate/sdk";

const { body, headers, secrets } = JSON.parse(readFileSync(0, "utf8"));
const told = await verifyWebhook(Buffer.from(body, "base64"), headers, secrets).catch((error) => error.name);
process.stdout.write(JSON.stringify(told));
