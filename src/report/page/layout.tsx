import type { ComponentChildren, VNode } from "preact";
import { renderToString } from "preact-render-to-string";
import type { Verdict } from "../../trace/event.ts";

// No inline script or style, nothing from elsewhere: text of an agent that slipped through as markup still could not run.
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'";

/** Frame of a page. */
export interface Page {
  readonly title: string;
  /** Path to the folder of the style and the script, "" or "../". */
  readonly root: string;
  readonly version: string | null;
  /** Links above the title. */
  readonly trail: readonly { readonly href: string; readonly text: string }[];
  readonly children: ComponentChildren;
}

function Frame({ title, root, version, trail, children }: Page): VNode {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content={POLICY} />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        {version === null ? null : <meta name="evoweb-version" content={version} />}
        <title>{title}</title>
        <link rel="icon" href={`${root}icon.svg`} />
        <link rel="stylesheet" href={`${root}report.css`} />
        <script src={`${root}report.js`} defer />
      </head>
      <body>
        <a class="skip" href="#main">
          Skip to content
        </a>
        <header>
          <nav aria-label="Pages">
            {trail.map(({ href, text }) => (
              <a href={href}>{text}</a>
            ))}
          </nav>
          <h1>{title}</h1>
        </header>
        <main id="main">{children}</main>
      </body>
    </html>
  );
}

/** A whole page as HTML text. */
export function renderPage(page: Page): string {
  return `<!doctype html>\n${renderToString(<Frame {...page} />)}\n`;
}

const MARKS = { YES: "Y", PARTIAL: "P", NO: "N", MISSING: "?" } as const;

/** A verdict as a word on its colour. */
export function VerdictBadge({ verdict }: { readonly verdict: Verdict }): VNode {
  return <span class={`badge ${verdict.toLowerCase()}`}>{verdict}</span>;
}

/** A verdict as one letter on its colour, for maps. */
export function VerdictMark({ verdict, title }: { readonly verdict: Verdict; readonly title: string }): VNode {
  return (
    <span class={`mark ${verdict.toLowerCase()}`} title={title} role="img" aria-label={title}>
      {MARKS[verdict]}
    </span>
  );
}

/** What may be wider than the page and then scrolls by itself. */
export function Wide({ label, children }: { readonly label: string; readonly children: ComponentChildren }): VNode {
  return (
    <div class="wide" role="region" aria-label={label} tabIndex={0}>
      {children}
    </div>
  );
}

/** Names and values. */
export function Facts({ facts }: { readonly facts: readonly (readonly [string, ComponentChildren])[] }): VNode {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
