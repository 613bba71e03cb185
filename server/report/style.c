/* style.c - how a report looks, and what its document may do */
#include "server/report/style.h"

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdio.h>
#include <string.h>

#define DIGEST_BYTES 32

/* Light is what paper gets too: dark is for screens only. Series: Okabe and Ito's
 * colours, those with most contrast first. */
static const char text[] =
    "\n:root{color-scheme:light;--bg:#fff;--sunken:#f3f5f8;--border:#d5dbe3;"
    "--grid:#e3e7ed;--text:#151a21;--muted:#535d6a;--link:#0a5fa3;--bad:#b3261e;"
    "--bad-bg:#fdecea;--good:#006b4f;--good-bg:#e3f4ee;--warn:#7d5000;--warn-bg:#fdf2dc;"
    "--c0:#0072b2;--c1:#d55e00;--c2:#009e73;--c3:#cc79a7;--c4:#000;--c5:#e69f00;"
    "--c6:#56b4e9}\n"
    "@media screen and (prefers-color-scheme:dark){:root{color-scheme:dark;--bg:#0f1319;"
    "--sunken:#181e26;--border:#2d3642;--grid:#252d38;--text:#e6eaf0;--muted:#a0abb9;"
    "--link:#7cc0f7;--bad:#ff9a91;--bad-bg:#361715;--good:#5fd0a6;--good-bg:#10291f;"
    "--warn:#ecc06b;--warn-bg:#2f230c;--c0:#56b4e9;--c1:#e69f00;--c2:#009e73;"
    "--c3:#cc79a7;--c4:#f0e442;--c5:#d55e00;--c6:#fff}}\n"
    "*{box-sizing:border-box}\n"
    "html{background:var(--bg);color:var(--text);font:15px/1.5 system-ui,-apple-system,"
    "'Segoe UI',Roboto,'Noto Sans','Helvetica Neue',Arial,sans-serif}\n"
    "body{margin:0}\n"
    "header,main,footer{max-width:1240px;margin:0 auto;padding:0 clamp(1rem,3vw,2.5rem);"
    "overflow-wrap:anywhere}\n"
    "header{padding-top:1.6rem}footer{padding-block:1.5rem 2.5rem;color:var(--muted);"
    "font-size:.88rem}\n"
    "h1{font-size:1.7rem;line-height:1.2;margin:0 0 .5rem}\n"
    "h2{font-size:1.2rem;margin:2.2rem 0 .7rem;padding-bottom:.25rem;"
    "border-bottom:1px solid var(--border)}\n"
    "h3{font-size:1rem;margin:1.2rem 0 .4rem}\n"
    "p{margin:.35rem 0;max-width:75ch}ul{margin:.4rem 0;padding-left:1.2em}\n"
    "a{color:var(--link)}.muted,.unit{color:var(--muted)}.unit{font-weight:400}\n"
    ".pill{display:inline-block;padding:.05rem .7rem;border-radius:99px;font-weight:600;"
    "font-size:.9rem;background:var(--sunken);border:1px solid currentcolor}\n"
    ".pill.good{background:var(--good-bg);color:var(--good)}\n"
    ".pill.bad{background:var(--bad-bg);color:var(--bad)}\n"
    ".pill.warn{background:var(--warn-bg);color:var(--warn)}\n"
    ".banner{margin:.8rem 0;padding:.7rem 1rem;border:2px solid currentcolor;"
    "border-radius:8px;max-width:none}\n"
    ".banner.bad{background:var(--bad-bg);color:var(--bad)}\n"
    ".banner.warn{background:var(--warn-bg);color:var(--warn)}\n"
    ".banner strong{text-transform:uppercase;letter-spacing:.06em}\n"
    ".bad{color:var(--bad)}.warn{color:var(--warn)}\n"
    "dl.facts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,12."
    "5rem),"
    "1fr));gap:.7rem 1.2rem;margin:1rem 0}\n"
    "dl.facts>div{min-width:0}dt{color:var(--muted);font-size:.85rem}"
    "dd{margin:0;font-weight:560}\n"
    "dl.meanings dt{color:var(--text);font-weight:600;font-size:1rem}"
    "dl.meanings dd{font-weight:400;margin:0 0 .6rem;max-width:75ch}\n"
    ".scroll{overflow-x:auto}\n"
    "table{border-collapse:collapse;font-size:.86rem;font-variant-numeric:tabular-nums}\n"
    "caption{text-align:left;color:var(--muted);padding:.2rem 0}\n"
    "th,td{padding:.26rem .6rem;text-align:left;vertical-align:top;"
    "border-bottom:1px solid var(--border);overflow-wrap:anywhere;min-width:6.4rem}\n"
    "thead th{background:var(--sunken);font-weight:600;overflow-wrap:normal}\n"
    "th.group{background:var(--sunken);font-weight:600;padding-top:.5rem}\n"
    ".n{text-align:right;white-space:nowrap;overflow-wrap:normal;min-width:0}\n"
    "td.wide{min-width:13rem}\n"
    "tr.bad td,tr.bad th{background:var(--bad-bg)}\n"
    ".charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,25rem),"
    "1fr));gap:1rem 1.6rem;align-items:start}\n"
    "figure{margin:0;max-width:760px;min-width:0;break-inside:avoid}"
    "figcaption{font-weight:600}\n"
    "figure>svg{width:100%;height:auto;display:block}\n"
    "svg text{fill:var(--muted);font-size:12.5px;font-family:inherit}\n"
    "svg text.axis{fill:var(--text)}\n"
    "svg text.mark{fill:var(--warn);opacity:.3;font-size:52px;font-weight:700;"
    "text-transform:uppercase;letter-spacing:.08em}\n"
    ".grid{stroke:var(--grid)}.line{fill:none;stroke:var(--c);stroke-width:2}\n"
    ".band{fill:var(--c);opacity:.16}.bar{stroke:var(--c);stroke-width:2;opacity:.55}\n"
    ".point{fill:var(--c);stroke:var(--c);stroke-width:1.6}.hollow{fill:var(--bg)}\n"
    ".alarm{fill:none;stroke:var(--bad);stroke-width:2.5}\n"
    ".s0{--c:var(--c0)}.s1{--c:var(--c1)}.s2{--c:var(--c2)}.s3{--c:var(--c3)}"
    ".s4{--c:var(--c4)}.s5{--c:var(--c5)}.s6{--c:var(--c6)}\n"
    ".legend{list-style:none;display:flex;flex-wrap:wrap;gap:.15rem 1.2rem;padding:0;"
    "margin:.3rem 0 .8rem;font-size:.86rem}\n"
    ".glyph{width:34px;height:12px;vertical-align:-1px;margin-right:.4rem}\n"
    "details{margin:.4rem 0 1.2rem}summary{cursor:pointer;color:var(--link)}\n"
    "pre{background:var(--sunken);border:1px solid var(--border);border-radius:6px;"
    "padding:.7rem .9rem;white-space:pre-wrap;overflow-wrap:anywhere;"
    "font:.82rem/1.45 ui-monospace,'SF Mono',Menlo,Consolas,'DejaVu Sans Mono',monospace}"
    "\n:focus-visible{outline:2px solid var(--link);outline-offset:2px}\n"
    "@page{size:A4;margin:14mm 12mm}\n"
    "@media print{html{font-size:9.5pt}header,main,footer{max-width:none;padding-inline:"
    "0}table{font-size:7.6pt}th,td{padding:.15rem .35rem}.scroll{overflow:visible}"
    "thead{display:table-header-group}tr,.banner,li{break-inside:avoid}"
    "h2,h3,caption{break-after:avoid}.charts{grid-template-columns:1fr 1fr}"
    ".chart-data{display:none}th,td,td.wide{min-width:0}"
    "*{-webkit-print-color-adjust:exact;print-color-adjust:exact}}\n";

const char *style_text(void)
{
    return text;
}

int style_policy(char out[STYLE_POLICY_MAX])
{
    unsigned char bytes[DIGEST_BYTES];
    gnutls_datum_t digest = {bytes, sizeof(bytes)}, base64;

    if (gnutls_hash_fast(GNUTLS_DIG_SHA256, text, strlen(text), bytes) < 0 ||
        gnutls_base64_encode2(&digest, &base64) < 0)
        return -1;
    snprintf(out, STYLE_POLICY_MAX,
             "default-src 'none'; style-src 'sha256-%.*s'; img-src data:; "
             "base-uri 'none'; form-action 'none'",
             (int)base64.size, (const char *)base64.data);
    gnutls_free(base64.data);
    return 0;
}
