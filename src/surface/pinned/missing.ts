/** Pinned tools that this client does not get, with the reason. */
import type { Asker } from "../../kernel/list-key.ts";
import { writeToolId } from "../../kernel/tool-id.ts";
import type { ScopeCatalog, ScopeFacts } from "../scope.ts";

export interface MissingPinned {
  /** `server:tool` */
  readonly id: string;
  readonly reason: string;
}

/** Reads what is known, and starts no server. */
export function missingPinned(scope: ScopeCatalog & ScopeFacts, asker: Asker): readonly MissingPinned[] {
  const { snapshot } = scope.view(asker);
  return scope.pinned().flatMap(({ server, tool }) => {
    if (snapshot.tool(server, tool)) return [];
    const reason = reasonFor(scope, { server, tool, listed: snapshot.listings.has(server) }, asker);
    return [{ id: writeToolId({ server, tool }), reason }];
  });
}

interface Missing {
  readonly server: string;
  readonly tool: string;
  readonly listed: boolean;
}

function reasonFor(scope: ScopeCatalog, { server, tool, listed }: Missing, asker: Asker): string {
  if (!scope.has(server, asker)) return "there is no such server here, or it is off";
  if (!listed) return "its server has not listed its tools yet";
  if (scope.pins.unapproved(server, asker).some((change) => change.tool === tool))
    return "it is not approved yet";
  return scope.permits(server, tool, asker)
    ? "its server has no such tool"
    : "its server has no such tool, or the rules hide it";
}
