// Serves the policy model for runs by hand: npx tsx tests/policy-model/main.ts, then EVOWEB_JUDGE_BASE_URL=... --judge-model policy.
import { openPolicyServer } from "./server.ts";

const server = await openPolicyServer();
console.log(server.baseUrl);
