import type { Server } from "node:http";

/** Cuts a server's connections and ends its listening; it may listen again afterwards. */
export async function stopListening(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise<void>((resolve) => server.close(() => resolve()));
}
