// The package has no types of its own; only what tests call.
declare module "jstat" {
  export const jStat: {
    readonly normal: { inv(share: number, mean: number, deviation: number): number };
    readonly beta: { inv(share: number, alpha: number, beta: number): number };
    combination(all: number, few: number): number;
  };
}
