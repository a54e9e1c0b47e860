"""What a simulated launch shows: summary, bottleneck, roofline, traces, tables, timeline."""

from xdsl_dsa_sim.report.chrome import chrome_trace
from xdsl_dsa_sim.report.html import timeline_html
from xdsl_dsa_sim.report.pipes import pipe_table, pipe_table_csv
from xdsl_dsa_sim.report.profile import profile_of
from xdsl_dsa_sim.report.summary import Summary, summarise
from xdsl_dsa_sim.report.text import summary_text

__all__ = [
    "Summary",
    "chrome_trace",
    "pipe_table",
    "pipe_table_csv",
    "profile_of",
    "summarise",
    "summary_text",
    "timeline_html",
]
