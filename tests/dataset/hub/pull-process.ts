// A process of its own that pulls one split: node pull-process.ts URL CACHE NAME SPLIT; the commit goes to standard output.
import { pullDataset } from "../../../src/dataset/pull-dataset.ts";

const [url = "", cacheDir = "", name = "", split = ""] = process.argv.slice(2);
const { commit } = await pullDataset(name, { split, hub: { url, cacheDir } });
process.stdout.write(commit);
