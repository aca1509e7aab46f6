/** The interface for search: a strategy indexes tools and returns an ordered list of them for a question. */
import type { ServerId } from "../../kernel/call.ts";
import type { Tool } from "../tool.ts";

export interface Hit {
  readonly server: ServerId;
  readonly name: string;
  /** Comparable only within the hits of one search. */
  readonly score: number;
  /**
   * 0..1, comparable between searches: how likely this tool is the right one. Never higher than that of a hit
   * before it.
   */
  readonly confidence: number;
  /**
   * 0..1, comparable between searches: how well the tool does what was asked, even if others do it as well.
   * Optional for a strategy.
   */
  readonly fit?: number;
}

export interface SearchOptions {
  readonly limit: number;
  /** Which tools the caller may see. Other tools do not influence the hits. */
  readonly scope?: (server: ServerId, tool: string) => boolean;
}

/** Texts about a server, in addition to its tools. */
export interface ServerText {
  /** The name that users know; by default the server id. */
  readonly name?: string;
  readonly title?: string;
  readonly description?: string;
}

export interface SearchStrategy {
  /**
   * The configured maximum of hits to show for one search. The caller enforces it. Unlimited if undefined.
   */
  readonly mostShown?: number;
  /** Replaces all tools and texts of one server. */
  update(server: ServerId, tools: readonly Tool[], text?: ServerText): void;
  remove(server: ServerId): void;
  /** Best first; equal scores are ordered by tool id. A lower `limit` returns the same first hits. */
  search(query: string, options: SearchOptions): Promise<readonly Hit[]>;
}
