void body(const uint64_t *slots, int64_t first_program, int64_t last_program)
{
    const int64_t *const grid = (const int64_t *)(uintptr_t)slots[0];
    char *const scratch = ((void *(*)(uint64_t))(uintptr_t)slots[1])(3231744);
    float *const q = (float *)(uintptr_t)slots[2];
    float *const k = (float *)(uintptr_t)slots[3];
    float *const v = (float *)(uintptr_t)slots[4];
    float *const out = (float *)(uintptr_t)slots[5];
    const float scale = (float)((union { uint64_t bits; double value; }){slots[6]}).value;
    const int32_t n = (int32_t)slots[7];
    float *const q_block_buffer = (float *)(scratch + 0);
    float *const weight_buffer = (float *)(scratch + 16640);
    float *const accumulator_buffer = (float *)(scratch + 17152);
    float *const maximum_buffer = (float *)(scratch + 33792);
    float *const scores_buffer = (float *)(scratch + 34304);
    float *const rhs_kept = (float *)(scratch + 50944);
    struct packed rhs_packed[64] = {{0}};
    float *const max_buffer = (float *)(scratch + 1099776);
    float *const correction_buffer = (float *)(scratch + 1100288);
    float *const sum_buffer = (float *)(scratch + 1099776);
    float *const probability_buffer = (float *)(scratch + 1100800);
    float *const v_block_kept = (float *)(scratch + 1117440);
    struct packed v_block_packed[64] = {{0}};
    float *const v_block_buffer = (float *)(scratch + 1100800);
    float *const scores_buffer_1 = (float *)(scratch + 34304);
    float *const rhs_kept_1 = (float *)(scratch + 2166272);
    struct packed rhs_packed_1[64] = {{0}};
    float *const max_buffer_1 = (float *)(scratch + 1100288);
    float *const scores_buffer_2 = (float *)(scratch + 3215104);
    float *const correction_buffer_1 = (float *)(scratch + 1099776);
    float *const sum_buffer_1 = (float *)(scratch + 1100288);
    float *const probability_buffer_1 = (float *)(scratch + 34304);
    float *const v_block_panels = (float *)(scratch + 3215104);
    for (int64_t program = first_program; program < last_program; ++program) {
        const int32_t program_x = (int32_t)(program % grid[0]);
        const int32_t program_y = (int32_t)(program / grid[0] % grid[1]);
        int rhs_step = 0;
        int v_block_step = 0;
        int rhs_step_1 = 0;
        // 68: first_row = tl.program_id(0) * BLOCK_M
        const int32_t first_row = program_x * 64;
        // 69: head = tl.program_id(1).to(tl.int64) * n * HEAD
        const int64_t head = (int64_t)program_y * (int64_t)n * 64;
        // 74: q_block = (q_block * (scale * 1.4426950408889634)).to(q_block.dtype)
        const float product = scale * 1.44269504f;
        // 83: whole = n // BLOCK_N * BLOCK_N
        const int32_t whole = i32_div(n, 64) * 64;
        // 86: q_block, k + head, v + head, accumulator, weight, maximum, rows, 0, whole, n,
        float *k_1 = k + head;
        float *v_1 = v + head;
        // 74: q_block = (q_block * (scale * 1.4426950408889634)).to(q_block.dtype)
        const f32x32 product_all = f32x32_splat(product);
        for (int64_t i = 0; i < 64; ++i) {
            const int64_t row_end = i < (int64_t)n - first_row ? 64 : 0;
            float *q_row = q + (head + (int64_t)first_row * 64 + i * 64);
            for (int64_t j = 0; j < 64; j += 32) {
                const int count = lanes_left(row_end - j, 32);
                float q_block_part[32];
                const f32x32 q_block = load_f32_f32x32(count == 32 ? q_row + j : partial_load_f32(q_block_part, q_row + j, count, 0.0f, 32));
                const f32x32 q_block_1 = f32x32_mul(q_block, product_all);
                store_f32_f32x32(q_block_buffer + i * 64 + j, q_block_1);
            }
        }
        // 37: for start in range(first, last, BLOCK_N):
        __builtin_memset(weight_buffer, 0, 64 * sizeof *weight_buffer);
        __builtin_memset(accumulator_buffer, 0, 4096 * sizeof *accumulator_buffer);
        for (int64_t i = 0; i < 64; i += 32) {
            store_f32_f32x32(maximum_buffer + i, f32x32_splat(-__builtin_inff()));
        }
        for (int64_t wide_start = 0; wide_start < whole; wide_start += 64) {
            const int32_t start = (int32_t)wide_start;
            // 46: scores = tl.dot(q, tl.trans(k_block))
            __builtin_memset(scores_buffer, 0, 4096 * sizeof *scores_buffer);
            float *const rhs_panels = rhs_kept + rhs_step * 4096;
            struct packed *const rhs_seen = rhs_packed + rhs_step;
            rhs_step += rhs_step < 63;
            if (!is_packed(rhs_seen, k_1 + (int64_t)start * 64, 1, 64, 64, 64))
                pack_f32_f32(rhs_panels, k_1 + (int64_t)start * 64, 1, 64, 64, 64);
            dot_64x64x64_f32(scores_buffer, 64, q_block_buffer, 64, rhs_panels, 64, 64, 64);
            // 52: new_maximum = tl.maximum(maximum, tl.max(scores, 1))
            for (int64_t i = 0; i < 64; ++i) {
                f32x32 max_lanes = f32x32_splat(__builtin_nanf(""));
                for (int64_t j = 0; j < 64; j += 32) {
                    const f32x32 scores = load_f32_f32x32(scores_buffer + i * 64 + j);
                    max_lanes = f32x32_max(max_lanes, scores);
                }
                max_buffer[i] = f32x32_hmax(max_lanes);
            }
            // 52: new_maximum = tl.maximum(maximum, tl.max(scores, 1))
            // 53: correction = tl.exp2(maximum - new_maximum)
            for (int64_t i = 0; i < 64; i += 32) {
                const f32x32 maximum = load_f32_f32x32(maximum_buffer + i);
                const f32x32 max = load_f32_f32x32(max_buffer + i);
                const f32x32 new_maximum = f32x32_max(maximum, max);
                const f32x32 difference = f32x32_sub(maximum, new_maximum);
                const f32x32 correction = f32x32_exp2(difference);
                store_f32_f32x32(maximum_buffer + i, new_maximum);
                store_f32_f32x32(correction_buffer + i, correction);
            }
            // 54: probability = tl.exp2(scores - new_maximum[:, None])
            // 55: weight = weight * correction + tl.sum(probability, 1)
            for (int64_t i = 0; i < 64; ++i) {
                const float new_maximum = maximum_buffer[i];
                const f32x32 new_maximum_all = f32x32_splat(new_maximum);
                f32x32 sum_lanes = f32x32_splat(0.0f);
                for (int64_t j = 0; j < 64; j += 32) {
                    const f32x32 scores = load_f32_f32x32(scores_buffer + i * 64 + j);
                    const f32x32 difference = f32x32_sub(scores, new_maximum_all);
                    const f32x32 probability = f32x32_exp2(difference);
                    sum_lanes = f32x32_add(sum_lanes, probability);
                    store_f32_f32x32(probability_buffer + i * 64 + j, probability);
                }
                sum_buffer[i] = f32x32_hsum(sum_lanes);
            }
            // 55: weight = weight * correction + tl.sum(probability, 1)
            for (int64_t i = 0; i < 64; i += 32) {
                const f32x32 weight = load_f32_f32x32(weight_buffer + i);
                const f32x32 correction = load_f32_f32x32(correction_buffer + i);
                const f32x32 product_1 = f32x32_mul(weight, correction);
                const f32x32 sum = load_f32_f32x32(sum_buffer + i);
                const f32x32 weight_1 = f32x32_add(product_1, sum);
                store_f32_f32x32(weight_buffer + i, weight_1);
            }
            // 56: accumulator = accumulator * correction[:, None]
            for (int64_t i = 0; i < 64; ++i) {
                const float correction = correction_buffer[i];
                const f32x32 correction_all = f32x32_splat(correction);
                for (int64_t j = 0; j < 64; j += 32) {
                    const f32x32 accumulator = load_f32_f32x32(accumulator_buffer + i * 64 + j);
                    const f32x32 accumulator_1 = f32x32_mul(accumulator, correction_all);
                    store_f32_f32x32(accumulator_buffer + i * 64 + j, accumulator_1);
                }
            }
            // 57: accumulator = tl.dot(probability.to(v_block.dtype), v_block, accumulator)
            const int rows = larger(smaller((int64_t)n - first_row, 64), 0);
            float *const v_block_panels = v_block_kept + v_block_step * 4096;
            struct packed *const v_block_seen = v_block_packed + v_block_step;
            v_block_step += v_block_step < 63;
            if (!is_packed(v_block_seen, v_1 + (int64_t)start * 64, 64, 1, 64, 64))
                pack_f32_f32(v_block_panels, v_1 + (int64_t)start * 64, 64, 1, 64, 64);
            dot_64x64x64_f32(accumulator_buffer, 64, probability_buffer, 64, v_block_panels, rows, 64, 64);
        }
        for (int64_t wide_start = whole; wide_start < n; wide_start += 64) {
            const int32_t start = (int32_t)wide_start;
            // 42: v_block = tl.load(v + places, mask=columns[:, None] < n, other=0.0)
            for (int64_t i = 0; i < 64; ++i) {
                const int64_t row_end = i < (int64_t)n - start ? 64 : 0;
                float *v_1_row = v_1 + ((int64_t)start * 64 + i * 64);
                for (int64_t j = 0; j < 64; j += 32) {
                    const int count = lanes_left(row_end - j, 32);
                    float v_block_part[32];
                    const f32x32 v_block = load_f32_f32x32(count == 32 ? v_1_row + j : partial_load_f32(v_block_part, v_1_row + j, count, 0.0f, 32));
                    store_f32_f32x32(v_block_buffer + i * 64 + j, v_block);
                }
            }
            // 46: scores = tl.dot(q, tl.trans(k_block))
            __builtin_memset(scores_buffer_1, 0, 4096 * sizeof *scores_buffer_1);
            const int columns = larger(smaller((int64_t)n - start, 64), 0);
            float *const rhs_panels = rhs_kept_1 + rhs_step_1 * 4096;
            struct packed *const rhs_seen = rhs_packed_1 + rhs_step_1;
            rhs_step_1 += rhs_step_1 < 63;
            if (!is_packed(rhs_seen, k_1 + (int64_t)start * 64, 1, 64, 64, columns))
                pack_f32_f32(rhs_panels, k_1 + (int64_t)start * 64, 1, 64, 64, columns);
            dot_64x64x64_f32(scores_buffer_1, 64, q_block_buffer, 64, rhs_panels, 64, columns, 64);
            if (columns < 64)
                dot_64x64x64_f32_beyond_columns(scores_buffer_1, q_block_buffer, 64, 64, columns, 64);
            // 51: scores = tl.where(counts, scores, -float("inf"))
            // 52: new_maximum = tl.maximum(maximum, tl.max(scores, 1))
            const i32x32 i32_lanes = i32x32_iota();
            const i32x32 start_all = i32x32_splat(start);
            const i32x32 n_all = i32x32_splat(n);
            for (int64_t i = 0; i < 64; ++i) {
                f32x32 max_lanes = f32x32_splat(__builtin_nanf(""));
                for (int64_t j = 0; j < 64; j += 32) {
                    const i32x32 lane = i32x32_add(i32x32_splat((int32_t)j), i32_lanes);
                    const i32x32 columns_1 = i32x32_add(start_all, lane);
                    const i32x32 counts = i32x32_lt(columns_1, n_all);
                    const f32x32 scores = load_f32_f32x32(scores_buffer_1 + i * 64 + j);
                    const f32x32 scores_1 = f32x32_select(counts, scores, f32x32_splat(-__builtin_inff()));
                    max_lanes = f32x32_max(max_lanes, scores_1);
                    store_f32_f32x32(scores_buffer_2 + i * 64 + j, scores_1);
                }
                max_buffer_1[i] = f32x32_hmax(max_lanes);
            }
            // 52: new_maximum = tl.maximum(maximum, tl.max(scores, 1))
            // 53: correction = tl.exp2(maximum - new_maximum)
            for (int64_t i = 0; i < 64; i += 32) {
                const f32x32 maximum = load_f32_f32x32(maximum_buffer + i);
                const f32x32 max = load_f32_f32x32(max_buffer_1 + i);
                const f32x32 new_maximum = f32x32_max(maximum, max);
                const f32x32 difference = f32x32_sub(maximum, new_maximum);
                const f32x32 correction = f32x32_exp2(difference);
                store_f32_f32x32(maximum_buffer + i, new_maximum);
                store_f32_f32x32(correction_buffer_1 + i, correction);
            }
            // 54: probability = tl.exp2(scores - new_maximum[:, None])
            // 55: weight = weight * correction + tl.sum(probability, 1)
            for (int64_t i = 0; i < 64; ++i) {
                const float new_maximum = maximum_buffer[i];
                const f32x32 new_maximum_all = f32x32_splat(new_maximum);
                f32x32 sum_lanes = f32x32_splat(0.0f);
                for (int64_t j = 0; j < 64; j += 32) {
                    const f32x32 scores = load_f32_f32x32(scores_buffer_2 + i * 64 + j);
                    const f32x32 difference = f32x32_sub(scores, new_maximum_all);
                    const f32x32 probability = f32x32_exp2(difference);
                    sum_lanes = f32x32_add(sum_lanes, probability);
                    store_f32_f32x32(probability_buffer_1 + i * 64 + j, probability);
                }
                sum_buffer_1[i] = f32x32_hsum(sum_lanes);
            }
            // 55: weight = weight * correction + tl.sum(probability, 1)
            for (int64_t i = 0; i < 64; i += 32) {
                const f32x32 weight = load_f32_f32x32(weight_buffer + i);
                const f32x32 correction = load_f32_f32x32(correction_buffer_1 + i);
                const f32x32 product_1 = f32x32_mul(weight, correction);
                const f32x32 sum = load_f32_f32x32(sum_buffer_1 + i);
                const f32x32 weight_1 = f32x32_add(product_1, sum);
                store_f32_f32x32(weight_buffer + i, weight_1);
            }
            // 56: accumulator = accumulator * correction[:, None]
            for (int64_t i = 0; i < 64; ++i) {
                const float correction = correction_buffer_1[i];
                const f32x32 correction_all = f32x32_splat(correction);
                for (int64_t j = 0; j < 64; j += 32) {
                    const f32x32 accumulator = load_f32_f32x32(accumulator_buffer + i * 64 + j);
                    const f32x32 accumulator_1 = f32x32_mul(accumulator, correction_all);
                    store_f32_f32x32(accumulator_buffer + i * 64 + j, accumulator_1);
                }
            }
            // 57: accumulator = tl.dot(probability.to(v_block.dtype), v_block, accumulator)
            const int rows = larger(smaller((int64_t)n - first_row, 64), 0);
            pack_f32_f32(v_block_panels, v_block_buffer, 64, 1, 64, 64);
            dot_64x64x64_f32(accumulator_buffer, 64, probability_buffer_1, 64, v_block_panels, rows, 64, 64);
        }
        // 94: tl.store(out + places, result.to(out.dtype.element_ty), mask=rows[:, None] < n)
        const int64_t i_end = smaller((int64_t)n - first_row, 64);
        for (int64_t i = 0; i < i_end; ++i) {
            float *out_row = out + (head + (int64_t)first_row * 64 + i * 64);
            const float weight = weight_buffer[i];
            const f32x32 weight_all = f32x32_splat(weight);
            for (int64_t j = 0; j < 64; j += 32) {
                const f32x32 accumulator = load_f32_f32x32(accumulator_buffer + i * 64 + j);
                const f32x32 result = f32x32_div(accumulator, weight_all);
                store_f32_f32x32(out_row + j, result);
            }
        }
    }
}
