// Shows a token taken apart.
import type { Claim, TokenDetail } from "../../src/inspector/contract.js";
import { CodeBlock } from "../parts/code-block.js";
import { Fold } from "../parts/fold.js";
import { Icon } from "../parts/icon.js";
import { Section } from "../parts/section.js";
import { VisibleText } from "../parts/visible-text.js";

const SIGNS = {
  passed: ["accepted", "passed"],
  failed: ["refused", "failed"],
  "not-reached": ["not-reached", "not reached"],
  "not-checked": ["not-reached", "not checked"],
} as const;

/** A token taken apart: each claim against what it is held to, then the two parts as they are. */
export function Token({ token }: { token: TokenDetail }) {
  const { key } = token;
  return (
    <Section title="Token" note="decoded only; the check “signature” says whether it is genuine">
      <dl class="facts">
        <dt>key</dt>
        <dd class="mono">
          {key ? (
            <VisibleText text={[key.kid, key.alg, key.thumbprint].filter(Boolean).join("  ")} />
          ) : (
            <i>none found</i>
          )}
        </dd>
      </dl>
      {token.claims.length > 0 && (
        <div class="scrolls">
          <table>
            <thead>
              <tr>
                <th scope="col">claim</th>
                <th scope="col">actual</th>
                <th scope="col">required, where it differs</th>
              </tr>
            </thead>
            <tbody>
              {token.claims.map((claim) => (
                <ClaimRow key={claim.name} claim={claim} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      <Fold summary="Header and payload">
        {() => (
          <>
            <CodeBlock label="Token header">
              <VisibleText text={token.header ?? "cannot be read"} />
            </CodeBlock>
            <CodeBlock label="Token payload">
              <VisibleText text={token.payload ?? "cannot be read"} />
            </CodeBlock>
            <CodeBlock label="Token as sent">
              <VisibleText text={token.compact} />
            </CodeBlock>
          </>
        )}
      </Fold>
    </Section>
  );
}

function ClaimRow({ claim }: { claim: Claim }) {
  const [sign, word] = SIGNS[claim.state];
  const isSame = claim.actual !== undefined && claim.actual === claim.required;
  return (
    <tr class={claim.state}>
      <th scope="row">
        <Icon name={sign} />
        <VisibleText text={claim.name} />
        <span class="visually-hidden">{word}</span>
      </th>
      <td class="mono" colSpan={isSame ? 2 : 1}>
        {claim.actual === undefined ? <i>missing</i> : <VisibleText text={claim.actual} />}
      </td>
      {!isSame && (
        <td class="mono">{claim.required === undefined ? "–" : <VisibleText text={claim.required} />}</td>
      )}
    </tr>
  );
}
