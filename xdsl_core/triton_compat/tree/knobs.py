"""What `triton.knobs` gives: switches that scripts read and set; none of them is connected."""

from types import SimpleNamespace

autotuning = SimpleNamespace(print=False, cache=False)
compilation = SimpleNamespace(always_compile=False, override=False, dump_ir=False, listener=None)
runtime = SimpleNamespace(
    interpret=False,
    debug=False,
    override_arch=None,
    launch_enter_hook=None,
    launch_exit_hook=None,
    jit_post_compile_hook=None,
    jit_cache_hook=None,
)
language = SimpleNamespace(fp32_default=None, default_fp_fusion=True)
cache = SimpleNamespace(dir=None, manager_class=None)
nvidia = amd = proton = build = redis = SimpleNamespace()
