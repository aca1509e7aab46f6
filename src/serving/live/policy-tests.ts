/** Runs policy tests: finds who a test calls as, and judges the call as a client's would be. */

import type { Access } from "../../access/access.ts";
import { type Account, accountPrincipal, emailKey, ROLES, type Role } from "../../access/account.ts";
import { refusalOf, type User } from "../../admin/routes/endpoint-use.ts";
import type { Compiled, CompiledEndpoint } from "../../gateway/compile.ts";
import type { Explained } from "../../gateway/endpoint/explanation.ts";
import { Judge, type JudgeParts } from "../../gateway/judge.ts";
import { type NamedTest, resultOf } from "../../gateway/policy-test.ts";
import type { TestResult } from "../../gateway/test-result.ts";
import { ANONYMOUS } from "../../kernel/principal.ts";

/** Who may be named in a test. */
export interface Callers {
  readonly accounts: Pick<Access["accounts"], "byId" | "byEmail" | "all">;
  readonly keys: Pick<Access["keys"], "byReference">;
}

export interface PolicyTestParts extends JudgeParts {
  readonly access: Callers;
}

export class PolicyTests {
  readonly #parts: PolicyTestParts;

  constructor(parts: PolicyTestParts) {
    this.#parts = parts;
  }

  async run(compiled: Compiled, tests: readonly NamedTest[]): Promise<readonly TestResult[]> {
    const judge = new Judge(compiled, this.#parts);
    const results: TestResult[] = [];
    for (const test of tests) {
      const endpoint = compiled.endpoints.get(test.endpoint);
      const explained = endpoint
        ? await this.#explain(judge, endpoint, test)
        : refused("name", "the gateway", "there is no such endpoint");
      results.push(resultOf(test, endpoint?.object.name ?? test.endpoint, explained));
    }
    return results;
  }

  async #explain(
    judge: Judge,
    endpoint: CompiledEndpoint,
    { as, tool, args }: NamedTest,
  ): Promise<Explained> {
    const at = `endpoint "${endpoint.object.name}"`;
    const user = this.#userNamed(as);
    if (!user) return refused("access", at, `there is no "${as}" here`);
    const reason = refusalOf(endpoint.object, user);
    if (reason !== undefined) return refused("access", at, reason);
    const principal = endpoint.object.spec.access.public ? ANONYMOUS : user.principal;
    return await judge.explain(endpoint, principal, { tool, args });
  }

  #userNamed(as: string): User | undefined {
    const { accounts, keys } = this.#parts.access;
    const [, kind, name = ""] = /^(key|group|role):(.*)$/s.exec(as) ?? [];
    if (kind === "key") {
      const [key, another] = keys.byReference(name, undefined);
      return key && !another ? { principal: key.principal, account: key.account, key } : undefined;
    }
    const account =
      kind === "group"
        ? somebody(as, "member", [name])
        : kind === "role"
          ? ROLES.includes(name as Role) && somebody(as, name as Role, [])
          : (accounts.byId(as) ?? accounts.byEmail(as) ?? byAddress(accounts.all, as));
    return account ? { principal: accountPrincipal(account), account } : undefined;
  }
}

/** A person who need not exist. */
function somebody(email: string, role: Role, groups: readonly string[]): Account {
  return { uuid: email, email, role, groups, disabled: false, createdAt: "", updatedAt: "" };
}

/** The account of an identity provider with this address, if it is the only one. */
function byAddress(accounts: Iterable<Account>, email: string): Account | undefined {
  const found = [...accounts].filter((one) => emailKey(one.email) === emailKey(email));
  return found.length === 1 ? found[0] : undefined;
}

function refused(use: string, at: string, reason: string): Explained {
  return { outcome: "refused", steps: [{ use, at, effect: "deny", reason }] };
}
