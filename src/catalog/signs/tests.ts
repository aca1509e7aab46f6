/** Tests of single words, which are in lower case: places of secrets, addresses. */

/** Ends of paths where secrets are. */
const SECRET_FILES =
  /(?:^|\/)(?:\.ssh|\.aws|\.gnupg|\.netrc|\.npmrc|\.pypirc|\.env(?:\.[a-z]+)?|\.kube|\.docker|\.git-credentials|\.bash_history|\.zsh_history|\.config|id_rsa|id_ed25519|id_ecdsa|authorized_keys|etc\/passwd|etc\/shadow|mcp\.json|claude_desktop_config\.json|wallet\.dat)(?:$|[/:,])/;

/** As in `~/.ssh/id_rsa`. Bounded, because a path may be long. */
export function isSecretPlace(word: string): boolean {
  return SECRET_FILES.test(word.slice(0, 200));
}

const ADDRESS = /^(?:https?:\/\/|[^@/]{1,64}@[^@/]{1,64}\.)/;

export function isAddress(word: string): boolean {
  return ADDRESS.test(word.slice(0, 200));
}
