type Damage = (bytes: Buffer) => Buffer;

const linesOf = (bytes: Buffer): string[] => bytes.toString("utf8").trimEnd().split("\n");
const join = (lines: readonly string[]): Buffer => Buffer.from(`${lines.join("\n")}\n`);
const startOfLast = (bytes: Buffer): number => bytes.lastIndexOf(10, bytes.length - 2) + 1;
const LATER = '{"type":"note","text":"written after the crash"}\n';

/** Ways in which a trace comes to harm: kills, full disks, two writers, machines that lose power. */
export const DAMAGES = {
  "torn tail": (bytes) => bytes.subarray(0, startOfLast(bytes) + 25),
  "torn, then appended to": (bytes) => Buffer.concat([bytes.subarray(0, startOfLast(bytes) + 25), Buffer.from(LATER)]),
  "torn inside a letter": (bytes) =>
    Buffer.concat([bytes, Buffer.from('{"type":"note","text":"caf'), Buffer.from([0xc3])]),
  "no final line feed": (bytes) => bytes.subarray(0, -1),
  glued: (bytes) => {
    const lines = linesOf(bytes);
    const at = Math.floor(lines.length / 2) - 1;
    return join([...lines.slice(0, at), `${lines[at]}${lines[at + 1]}`, ...lines.slice(at + 2)]);
  },
  "a broken line in the middle": (bytes) => join(linesOf(bytes).with(8, '{"v":1,"type":"request_fin')),
  "a block of NUL bytes at the end": (bytes) => Buffer.concat([bytes, Buffer.alloc(4096)]),
  "NUL bytes before a record": (bytes) => Buffer.concat([Buffer.alloc(512), bytes]),
  "a byte order mark": (bytes) => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes]),
  "Windows line ends": (bytes) => Buffer.from(bytes.toString().replaceAll("\n", "\r\n")),
  "a doubled line": (bytes) => {
    const lines = linesOf(bytes);
    return join([...lines.slice(0, 6), ...lines.slice(5)]);
  },
  empty: () => Buffer.alloc(0),
} satisfies Readonly<Record<string, Damage>>;
