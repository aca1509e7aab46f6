/**
 * Gives the space of deleted records back to the file system, in steps, because nothing else runs during a
 * statement.
 */
import type { Query } from "../database.ts";

/** Pages of 16 KB. Fewer free ones stay in the file: new records use them. */
export const LEAST_FREE = 1_000;
const STEP = 100;
/** The value of `PRAGMA auto_vacuum` for INCREMENTAL. */
const INCREMENTAL = 2;

export interface Space {
  readonly free: number;
  readonly pages: number;
  /** Whether space can be given back in steps. */
  readonly incremental: boolean;
}

export async function spaceOf(query: Query): Promise<Space> {
  const value = async (name: string): Promise<number> => {
    const { rows } = await query(`PRAGMA ${name}`);
    return Number(Object.values(rows[0] ?? {})[0] ?? 0);
  };
  return {
    free: await value("freelist_count"),
    pages: await value("page_count"),
    incremental: (await value("auto_vacuum")) === INCREMENTAL,
  };
}

/** Leaves a quarter of the file free. */
export async function reclaim(query: Query): Promise<void> {
  for (;;) {
    const { free, pages, incremental } = await spaceOf(query);
    if (!incremental || free < LEAST_FREE || free < pages / 4) return;
    await query(`PRAGMA incremental_vacuum(${STEP})`);
    await new Promise(setImmediate);
  }
}
