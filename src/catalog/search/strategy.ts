/** The seam for ranking: how a question becomes an ordered list of tools. */
import type { ServerId } from "../../kernel/call.ts";
import type { Tool } from "../tool.ts";

export interface Hit {
  readonly server: ServerId;
  readonly name: string;
  /** Comparable within one answer only. */
  readonly score: number;
  /** 0..1, comparable between answers: how likely this tool is what was asked for. Never more than that of a hit before it. */
  readonly confidence: number;
  /** 0..1, comparable between answers: how far it does what was asked for, however many others do as well. Not every strategy knows. */
  readonly fit?: number;
}

export interface SearchOptions {
  readonly limit: number;
  /** What the caller may see. A tool outside it does not influence the answer. */
  readonly scope?: (server: ServerId, tool: string) => boolean;
}

/** What is known of a server beside its tools. */
export interface ServerText {
  /** What people call it; its id unless given. */
  readonly name?: string;
  readonly title?: string;
  readonly description?: string;
}

export interface SearchStrategy {
  /** How many hits of one question anybody is shown, as configured; whoever shows them keeps to it. No bound where it is not said. */
  readonly mostShown?: number;
  /** Replaces everything known of one server. */
  update(server: ServerId, tools: readonly Tool[], text?: ServerText): void;
  remove(server: ServerId): void;
  /** Best first; ties by tool id. The first of many hits are the same as where fewer are wanted. */
  search(query: string, options: SearchOptions): Promise<readonly Hit[]>;
}
